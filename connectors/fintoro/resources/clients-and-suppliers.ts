import * as t from "../../../src/connector/record-schema.ts";
import { country } from "./lookups.ts";
import { wholeResource } from "./resource-builders.ts";

export const contactTypes = ["person", "company"] as const;

const registrationNumber = "Business registration number (IČO)";
const someCountry = () => t.orNull(t.nested("countries", country));

const numbers = () => ({
  subjectId: t.doc(registrationNumber, t.orNull(t.text())),
  taxId: t.doc("Tax number (DIČ)", t.orNull(t.text())),
  vatId: t.doc("VAT number (IČ DPH)", t.orNull(t.text())),
  isVatPayer: t.boolean(),
  email: t.orNull(t.text()),
});

export const client = t.record({
  id: t.integer(),
  name: t.doc("Name of the person or company", t.text()),
  type: t.oneOf(contactTypes),
  ...numbers(),
  street: t.doc("Street and number of the billing address", t.orNull(t.text())),
  ...t.each("city zip", t.orNull(t.text())),
  country: t.doc("Country of the billing address", someCountry()),
  hasDeliveryAddress: t.doc("A delivery address of its own is recorded", t.boolean()),
  ...t.each("deliveryStreet deliveryCity deliveryZip", t.orNull(t.text())),
  deliveryCountry: someCountry(),
  ...t.each("createdAt updatedAt", t.orNull(t.timestamp())),
  preferredDeliveryMethodId: t.doc("Default of new documents", t.orNull(t.idOf("delivery_methods"))),
  preferredPaymentMethodId: t.doc("Default of new documents", t.orNull(t.idOf("payment_methods"))),
  preferredCurrencyId: t.doc("Default of new documents", t.orNull(t.idOf("currencies"))),
  preferredLanguageId: t.doc("Default of new documents", t.orNull(t.idOf("languages"))),
  preferredDueDays: t.doc("Days to pay, default of new documents", t.orNull(t.integer())),
  preferredNote: t.doc("Default of new documents", t.orNull(t.text())),
  ...t.each(
    "preferredVariableSymbol preferredConstantSymbol preferredSpecificSymbol",
    t.doc("Default of new documents", t.orNull(t.integer())),
  ),
  preferredTextAboveItems: t.doc("Default of new documents", t.orNull(t.text())),
});

export const clients = wholeResource("clients", "Clients", {
  record: client,
  doc: "Customers as they are today; documents carry their own snapshot",
});

export const supplier = t.record({
  id: t.integer(),
  type: t.oneOf(contactTypes, contactTypes),
  name: t.doc("Name of the person or company", t.text()),
  ...numbers(),
  street: t.doc("Street and number", t.orNull(t.text())),
  ...t.each("city zip", t.orNull(t.text())),
  country: someCountry(),
});

export const suppliers = wholeResource("suppliers", "Suppliers", { record: supplier });

/** The company and the other party as they were on the day of a document. */
export const companySnapshot = t.record({
  name: t.text(),
  subjectId: t.doc(registrationNumber, t.text()),
  legalForm: t.text(),
  ...t.each("taxId vatId", t.orNull(t.text())),
  vatPayerTypeId: t.doc("Kind of VAT payer, the service's own numbering", t.integer()),
  country: t.doc("Country as words", t.text()),
  ...t.each("city street", t.text()),
  zip: t.orNull(t.text()),
  logo: t.doc("Address or path of the logo", t.orNull(t.text())),
  signature: t.doc("Address or path of the signature", t.orNull(t.text())),
  ...t.each("registrationCourt registrationNumber email phone web", t.orNull(t.text())),
});

const party = {
  name: t.text(),
  type: t.oneOf(contactTypes, contactTypes),
  subjectId: t.doc(registrationNumber, t.orNull(t.text())),
  ...t.each("taxId vatId", t.orNull(t.text())),
  isVatPayer: t.boolean(),
  ...t.each("email street city zip", t.orNull(t.text())),
  countryId: t.orNull(t.idOf("countries")),
  country: someCountry(),
};

export const supplierSnapshot = t.record(party);

export const clientSnapshot = t.record({
  ...party,
  hasDeliveryAddress: t.boolean(),
  ...t.each("deliveryStreet deliveryCity deliveryZip", t.orNull(t.text())),
  deliveryCountryId: t.orNull(t.idOf("countries")),
  deliveryCountry: someCountry(),
});
