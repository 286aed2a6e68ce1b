import { defineResource } from "../../../src/connector/define.ts";
import {
  boolean,
  doc,
  idOf,
  integer,
  nested,
  oneOf,
  orNull,
  record,
  text,
  timestamp,
} from "../../../src/connector/record-schema.ts";
import { country } from "./lookups.ts";

export const contactTypes = ["person", "company"] as const;

export const client = record({
  id: integer(),
  name: doc("Name of the person or company", text()),
  type: oneOf(contactTypes),
  subjectId: doc("Business registration number (IČO)", orNull(text())),
  taxId: doc("Tax number (DIČ)", orNull(text())),
  vatId: doc("VAT number (IČ DPH)", orNull(text())),
  isVatPayer: boolean(),
  email: orNull(text()),
  street: doc("Street and number of the billing address", orNull(text())),
  city: orNull(text()),
  zip: orNull(text()),
  country: doc("Country of the billing address", orNull(nested("countries", country))),
  hasDeliveryAddress: doc("A delivery address of its own is recorded", boolean()),
  deliveryStreet: orNull(text()),
  deliveryCity: orNull(text()),
  deliveryZip: orNull(text()),
  deliveryCountry: orNull(nested("countries", country)),
  createdAt: orNull(timestamp()),
  updatedAt: orNull(timestamp()),
  preferredDeliveryMethodId: doc("Default of new documents", orNull(idOf("delivery_methods"))),
  preferredPaymentMethodId: doc("Default of new documents", orNull(idOf("payment_methods"))),
  preferredCurrencyId: doc("Default of new documents", orNull(idOf("currencies"))),
  preferredLanguageId: doc("Default of new documents", orNull(idOf("languages"))),
  preferredDueDays: doc("Days to pay, default of new documents", orNull(integer())),
  preferredNote: doc("Default of new documents", orNull(text())),
  preferredVariableSymbol: doc("Default of new documents", orNull(integer())),
  preferredConstantSymbol: doc("Default of new documents", orNull(integer())),
  preferredSpecificSymbol: doc("Default of new documents", orNull(integer())),
  preferredTextAboveItems: doc("Default of new documents", orNull(text())),
});

export const clients = defineResource({
  name: "clients",
  singular: "client",
  title: "Clients",
  origin: "published",
  record: client,
  list: { kind: "whole", path: "/clients" },
  detail: "/clients/{id}",
  doc: "Customers as they are today; documents carry their own snapshot",
});
