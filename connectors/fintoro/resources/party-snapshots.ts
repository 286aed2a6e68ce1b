import {
  boolean,
  doc,
  idOf,
  integer,
  nested,
  orNull,
  record,
  text,
} from "../../../src/connector/record-schema.ts";
import { country } from "./lookups.ts";

/** What a document remembers of the parties on its day; later changes of a client do not touch it. */
export const companySnapshot = record({
  name: text(),
  subjectId: doc("Business registration number (IČO)", text()),
  legalForm: text(),
  taxId: orNull(text()),
  vatId: orNull(text()),
  vatPayerTypeId: doc("Kind of VAT payer, the service's own numbering", integer()),
  country: doc("Country as words", text()),
  city: text(),
  street: text(),
  zip: orNull(text()),
  logo: doc("Address or path of the logo", orNull(text())),
  signature: doc("Address or path of the signature", orNull(text())),
  registrationCourt: orNull(text()),
  registrationNumber: orNull(text()),
  email: orNull(text()),
  phone: orNull(text()),
  web: orNull(text()),
});

const party = {
  name: text(),
  type: doc("person or company", text()),
  subjectId: doc("Business registration number (IČO)", orNull(text())),
  taxId: orNull(text()),
  vatId: orNull(text()),
  isVatPayer: boolean(),
  email: orNull(text()),
  street: orNull(text()),
  city: orNull(text()),
  zip: orNull(text()),
  countryId: orNull(idOf("countries")),
  country: orNull(nested("countries", country)),
};

export const supplierSnapshot = record(party);

export const clientSnapshot = record({
  ...party,
  hasDeliveryAddress: boolean(),
  deliveryStreet: orNull(text()),
  deliveryCity: orNull(text()),
  deliveryZip: orNull(text()),
  deliveryCountryId: orNull(idOf("countries")),
  deliveryCountry: orNull(nested("countries", country)),
});
