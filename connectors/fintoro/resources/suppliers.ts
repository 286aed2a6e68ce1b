import { defineResource } from "../../../src/connector/define.ts";
import {
  boolean,
  doc,
  integer,
  nested,
  oneOf,
  orNull,
  record,
  text,
} from "../../../src/connector/record-schema.ts";
import { contactTypes } from "./clients.ts";
import { country } from "./lookups.ts";

export const supplier = record({
  id: integer(),
  type: oneOf(contactTypes, contactTypes),
  name: doc("Name of the person or company", text()),
  subjectId: doc("Business registration number (IČO)", orNull(text())),
  taxId: doc("Tax number (DIČ)", orNull(text())),
  vatId: doc("VAT number (IČ DPH)", orNull(text())),
  isVatPayer: boolean(),
  email: orNull(text()),
  street: doc("Street and number", orNull(text())),
  city: orNull(text()),
  zip: orNull(text()),
  country: orNull(nested("countries", country)),
});

export const suppliers = defineResource({
  name: "suppliers",
  singular: "supplier",
  title: "Suppliers",
  origin: "published",
  record: supplier,
  list: { kind: "whole", path: "/suppliers" },
  detail: "/suppliers/{id}",
});
