import * as t from "../../../src/connector/record-schema.ts";
import { country } from "./lookups.ts";

export const contactTypes = ["person", "company"] as const;

/** The company and the other party as they were on the day of a document. */
export const companySnapshot = t.record({
  name: t.text(),
  subjectId: t.doc("Business registration number (IČO)", t.text()),
  legalForm: t.text(),
  taxId: t.orNull(t.text()),
  vatId: t.orNull(t.text()),
  vatPayerTypeId: t.doc("Kind of VAT payer, the service's own numbering", t.integer()),
  country: t.doc("Country as words", t.text()),
  city: t.text(),
  street: t.text(),
  zip: t.orNull(t.text()),
  logo: t.doc("Address or path of the logo", t.orNull(t.text())),
  signature: t.doc("Address or path of the signature", t.orNull(t.text())),
  registrationCourt: t.orNull(t.text()),
  registrationNumber: t.orNull(t.text()),
  email: t.orNull(t.text()),
  phone: t.orNull(t.text()),
  web: t.orNull(t.text()),
});

const party = {
  name: t.text(),
  type: t.oneOf(contactTypes, contactTypes),
  subjectId: t.doc("Business registration number (IČO)", t.orNull(t.text())),
  taxId: t.orNull(t.text()),
  vatId: t.orNull(t.text()),
  isVatPayer: t.boolean(),
  email: t.orNull(t.text()),
  street: t.orNull(t.text()),
  city: t.orNull(t.text()),
  zip: t.orNull(t.text()),
  countryId: t.orNull(t.idOf("countries")),
  country: t.orNull(t.nested("countries", country)),
};

export const supplierSnapshot = t.record(party);

export const clientSnapshot = t.record({
  ...party,
  hasDeliveryAddress: t.boolean(),
  deliveryStreet: t.orNull(t.text()),
  deliveryCity: t.orNull(t.text()),
  deliveryZip: t.orNull(t.text()),
  deliveryCountryId: t.orNull(t.idOf("countries")),
  deliveryCountry: t.orNull(t.nested("countries", country)),
});
