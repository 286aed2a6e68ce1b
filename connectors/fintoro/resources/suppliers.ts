import * as t from "../../../src/connector/record-schema.ts";
import { contactTypes } from "./party-snapshots.ts";
import { country } from "./lookups.ts";
import { wholeResource } from "./resource-builders.ts";

export const supplier = t.record({
  id: t.integer(),
  type: t.oneOf(contactTypes, contactTypes),
  name: t.doc("Name of the person or company", t.text()),
  subjectId: t.doc("Business registration number (IČO)", t.orNull(t.text())),
  taxId: t.doc("Tax number (DIČ)", t.orNull(t.text())),
  vatId: t.doc("VAT number (IČ DPH)", t.orNull(t.text())),
  isVatPayer: t.boolean(),
  email: t.orNull(t.text()),
  street: t.doc("Street and number", t.orNull(t.text())),
  city: t.orNull(t.text()),
  zip: t.orNull(t.text()),
  country: t.orNull(t.nested("countries", country)),
});

export const suppliers = wholeResource("suppliers", "Suppliers", { record: supplier });
