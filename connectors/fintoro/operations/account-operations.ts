import { z } from "zod";
import { integer, oneOf, orNull, record, text } from "../../../src/connector/record-schema.ts";
import { bankAccount, pairingStrategies } from "../resources/bank-accounts.ts";
import { identity } from "../resources/company.ts";
import * as lookup from "../resources/lookups.ts";
import { series, seriesDocumentTypes } from "../resources/numerical-series.ts";
import {
  create,
  filtered,
  group,
  remove,
  show,
  statedRoute,
  update,
  wholeList,
} from "./operation-builders.ts";
import { characters, id, maybe } from "./input-types.ts";

const legalForms = ["freelancer", "company"] as const;

/** A company of the public registry; the mirror does not hold these. */
export const subject = record({
  id: integer(),
  name: text(),
  taxId: orNull(text()),
  vatId: orNull(text()),
  legalForm: oneOf(legalForms),
  city: orNull(text()),
  street: orNull(text()),
  zip: orNull(text()),
});

export const tokenOperations = group("token", { whoami: statedRoute(show("/whoami", identity)) });

export const lookupOperations = group("lookups", {
  banks: statedRoute(wholeList("/banks", lookup.bank)),
  countries: statedRoute(wholeList("/countries", lookup.country)),
  languages: statedRoute(wholeList("/languages", lookup.language)),
  currencies: statedRoute(wholeList("/currencies", lookup.currency)),
  deliveryMethods: statedRoute(wholeList("/delivery-methods", lookup.deliveryMethod)),
  paymentMethods: statedRoute(wholeList("/payment-methods", lookup.paymentMethod)),
  qrTypes: statedRoute(wholeList("/qr-types", lookup.qrType)),
  units: statedRoute(wholeList("/units", lookup.unit)),
});

export const seriesOperations = group("numericalSeries", {
  list: statedRoute(
    filtered(
      wholeList("/numerical-series", series),
      z.strictObject({ documentType: z.enum(seriesDocumentTypes) }),
    ),
  ),
  show: statedRoute(show("/numerical-series/{numericalSeries}", series)),
});

export const subjectOperations = group("subjects", {
  search: statedRoute(
    filtered(
      wholeList("/subjects", subject),
      z.strictObject({
        searchQuery: z.string().min(3),
        legalForm: z.enum(legalForms).optional(),
        limit: z.int().min(1).max(20).optional(),
      }),
    ),
  ),
  show: statedRoute(show("/subjects/{subject}", subject)),
});

const autoPairingStrategy = z.enum(pairingStrategies).optional();

const createInput = z.strictObject({
  bankId: maybe(id),
  name: characters(255),
  iban: z.string(),
  swift: characters(255),
  autoPairingStrategy,
});

const updateInput = z.strictObject({
  bankId: maybe(id),
  name: characters(255).optional(),
  iban: z.string().optional(),
  swift: characters(255).optional(),
  autoPairingStrategy,
  isPrimary: z.boolean().optional(),
});

/** Creating an account takes no `Idempotency-Key`. */
export const bankAccountOperations = group("bankAccounts", {
  list: wholeList("/bank-accounts", bankAccount),
  create: create("/bank-accounts", createInput, bankAccount),
  show: show("/bank-accounts/{bankAccount}", bankAccount),
  update: update("PATCH", "/bank-accounts/{bankAccount}", updateInput, bankAccount),
  delete: statedRoute(remove("/bank-accounts/{bankAccount}")),
});
