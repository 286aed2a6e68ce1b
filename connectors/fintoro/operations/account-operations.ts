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

export const tokenOperations = op.group("token", { whoami: op.statedRoute(op.show("/whoami", identity)) });

export const lookupOperations = op.group("lookups", {
  banks: op.statedRoute(op.wholeList("/banks", lookup.bank)),
  countries: op.statedRoute(op.wholeList("/countries", lookup.country)),
  languages: op.statedRoute(op.wholeList("/languages", lookup.language)),
  currencies: op.statedRoute(op.wholeList("/currencies", lookup.currency)),
  deliveryMethods: op.statedRoute(op.wholeList("/delivery-methods", lookup.deliveryMethod)),
  paymentMethods: op.statedRoute(op.wholeList("/payment-methods", lookup.paymentMethod)),
  qrTypes: op.statedRoute(op.wholeList("/qr-types", lookup.qrType)),
  units: op.statedRoute(op.wholeList("/units", lookup.unit)),
});

export const seriesOperations = op.group("numericalSeries", {
  list: op.statedRoute(
    op.filtered(
      op.wholeList("/numerical-series", series),
      z.strictObject({ documentType: z.enum(seriesDocumentTypes) }),
    ),
  ),
  show: op.statedRoute(op.show("/numerical-series/{numericalSeries}", series)),
});

export const subjectOperations = op.group("subjects", {
  search: op.statedRoute(
    op.filtered(
      op.wholeList("/subjects", subject),
      z.strictObject({
        searchQuery: z.string().min(3),
        legalForm: z.enum(legalForms).optional(),
        limit: z.int().min(1).max(20).optional(),
      }),
    ),
  ),
  show: op.statedRoute(op.show("/subjects/{subject}", subject)),
});

const createInput = z.strictObject({
  bankId: maybe(id),
  name: characters(255),
  iban: z.string(),
  swift: characters(255),
  autoPairingStrategy: z.enum(pairingStrategies).optional(),
});

const updateInput = createInput.extend({ isPrimary: z.boolean() }).partial();

/** Creating an account takes no `Idempotency-Key`. */
export const bankAccountOperations = op.group("bankAccounts", {
  list: op.wholeList("/bank-accounts", bankAccount),
  create: op.create("/bank-accounts", createInput, bankAccount),
  show: op.show("/bank-accounts/{bankAccount}", bankAccount),
  update: op.update("PATCH", "/bank-accounts/{bankAccount}", updateInput, bankAccount),
  delete: op.statedRoute(op.remove("/bank-accounts/{bankAccount}")),
});
