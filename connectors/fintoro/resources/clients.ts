import * as t from "../../../src/connector/record-schema.ts";
import { country } from "./lookups.ts";
import { contactTypes } from "./party-snapshots.ts";
import { wholeResource } from "./resource-builders.ts";

export const client = t.record({
  id: t.integer(),
  name: t.doc("Name of the person or company", t.text()),
  type: t.oneOf(contactTypes),
  subjectId: t.doc("Business registration number (IČO)", t.orNull(t.text())),
  taxId: t.doc("Tax number (DIČ)", t.orNull(t.text())),
  vatId: t.doc("VAT number (IČ DPH)", t.orNull(t.text())),
  isVatPayer: t.boolean(),
  email: t.orNull(t.text()),
  street: t.doc("Street and number of the billing address", t.orNull(t.text())),
  city: t.orNull(t.text()),
  zip: t.orNull(t.text()),
  country: t.doc("Country of the billing address", t.orNull(t.nested("countries", country))),
  hasDeliveryAddress: t.doc("A delivery address of its own is recorded", t.boolean()),
  deliveryStreet: t.orNull(t.text()),
  deliveryCity: t.orNull(t.text()),
  deliveryZip: t.orNull(t.text()),
  deliveryCountry: t.orNull(t.nested("countries", country)),
  createdAt: t.orNull(t.timestamp()),
  updatedAt: t.orNull(t.timestamp()),
  preferredDeliveryMethodId: t.doc("Default of new documents", t.orNull(t.idOf("delivery_methods"))),
  preferredPaymentMethodId: t.doc("Default of new documents", t.orNull(t.idOf("payment_methods"))),
  preferredCurrencyId: t.doc("Default of new documents", t.orNull(t.idOf("currencies"))),
  preferredLanguageId: t.doc("Default of new documents", t.orNull(t.idOf("languages"))),
  preferredDueDays: t.doc("Days to pay, default of new documents", t.orNull(t.integer())),
  preferredNote: t.doc("Default of new documents", t.orNull(t.text())),
  preferredVariableSymbol: t.doc("Default of new documents", t.orNull(t.integer())),
  preferredConstantSymbol: t.doc("Default of new documents", t.orNull(t.integer())),
  preferredSpecificSymbol: t.doc("Default of new documents", t.orNull(t.integer())),
  preferredTextAboveItems: t.doc("Default of new documents", t.orNull(t.text())),
});

export const clients = wholeResource("clients", "Clients", {
  record: client,
  doc: "Customers as they are today; documents carry their own snapshot",
});
