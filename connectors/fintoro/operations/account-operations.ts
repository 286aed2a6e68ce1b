import { z } from "zod";
import { integer, oneOf, orNull, record, text } from "../../../src/connector/record-schema.ts";
import { bankAccount, pairingStrategies } from "../resources/bank-accounts.ts";
import { identity } from "../resources/company.ts";
import * as lookup from "../resources/lookups.ts";
import { series, seriesDocumentTypes } from "../resources/numerical-series.ts";
import * as op from "./operation-builders.ts";
import { characters, id, maybe } from "./input-types.ts";

const legalForms = ["freelancer", "company"] as const;

/** A company of the public registry; the mirror does not hold these. */
const subject = record({
  id: integer(),
  name: text(),
  taxId: orNull(text()),
  vatId: orNull(text()),
  legalForm: oneOf(legalForms),
  city: orNull(text()),
  street: orNull(text()),
  zip: orNull(text()),
});

const createInput = z.strictObject({
  bankId: maybe(id),
  name: characters(255),
  iban: z.string(),
  swift: characters(255),
  autoPairingStrategy: z.enum(pairingStrategies).optional(),
});

const updateInput = createInput.extend({ isPrimary: z.boolean() }).partial();

/** Operations on the token, the service's lists and the company's settings. */
export const accountOperations = {
  token: { whoami: op.show("/whoami", identity) },
  lookups: {
    banks: op.wholeList("/banks", lookup.bank),
    countries: op.wholeList("/countries", lookup.country),
    languages: op.wholeList("/languages", lookup.language),
    currencies: op.wholeList("/currencies", lookup.currency),
    deliveryMethods: op.wholeList("/delivery-methods", lookup.deliveryMethod),
    paymentMethods: op.wholeList("/payment-methods", lookup.paymentMethod),
    qrTypes: op.wholeList("/qr-types", lookup.qrType),
    units: op.wholeList("/units", lookup.unit),
  },
  numericalSeries: {
    list: op.filtered(
      op.wholeList("/numerical-series", series),
      z.strictObject({ documentType: z.enum(seriesDocumentTypes) }),
    ),
    show: op.show("/numerical-series/{numericalSeries}", series),
  },
  subjects: {
    search: op.filtered(
      op.wholeList("/subjects", subject),
      z.strictObject({
        searchQuery: z.string().min(3),
        legalForm: z.enum(legalForms).optional(),
        limit: z.int().min(1).max(20).optional(),
      }),
    ),
    show: op.show("/subjects/{subject}", subject),
  },
  bankAccounts: {
    list: op.wholeList("/bank-accounts", bankAccount),
    ...op.records("/bank-accounts", "bankAccount", bankAccount, createInput),
    // Creating an account takes no `Idempotency-Key`.
    create: op.writeRecord("POST", "/bank-accounts", createInput, bankAccount),
    update: op.writeRecord("PATCH", "/bank-accounts/{bankAccount}", updateInput, bankAccount),
  },
};
