import * as t from "../../../src/connector/record-schema.ts";
import { bank } from "./lookups.ts";
import { wholeResource } from "./resource-builders.ts";

export const pairingStrategies = [
  "none",
  "by_variable_symbol",
  "by_price",
  "by_variable_symbol_and_price",
  "by_all_symbols",
  "by_all_symbols_and_price",
] as const;

export const bankAccount = t.record({
  id: t.integer(),
  bankId: t.doc("Null when the bank is not in the lookup", t.orNull(t.idOf("banks"))),
  bank: t.orNull(t.nested("banks", bank)),
  isPrimary: t.doc("Used when a document names no account", t.boolean()),
  autoPaymentMatching: t.doc("Connected to open banking", t.boolean()),
  name: t.text(),
  iban: t.text(),
  swift: t.doc("SWIFT (BIC) code", t.text()),
  autoPairingStrategy: t.doc("How incoming payments find their document", t.oneOf(pairingStrategies)),
  balance: t.doc("Last balance known from open banking", t.orNull(t.decimal())),
  lastSyncedAt: t.doc("Last open banking read; local time of the service", t.orNull(t.timestamp())),
  openBankingValidUntil: t.doc("End of the open banking consent", t.orNull(t.date())),
  createdAt: t.doc("Local time of the service", t.orNull(t.timestamp())),
  updatedAt: t.doc("Local time of the service", t.orNull(t.timestamp())),
});

/** The account as a document shows it: as it is now, also after its deletion. */
export const bankAccountReference = t.record({
  id: t.integer(),
  bankId: t.orNull(t.idOf("banks")),
  bank: t.orNull(t.nested("banks", bank)),
  name: t.text(),
  iban: t.text(),
  swift: t.text(),
  isPrimary: t.boolean(),
  autoPaymentMatching: t.boolean(),
});

export const bankAccounts = wholeResource("bank_accounts", "Bank accounts", {
  record: bankAccount,
  doc: "The company's own accounts",
});
