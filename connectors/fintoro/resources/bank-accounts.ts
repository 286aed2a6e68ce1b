import { defineResource } from "../../../src/connector/define.ts";
import {
  boolean,
  date,
  decimal,
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
import { bank } from "./lookups.ts";

export const pairingStrategies = [
  "none",
  "by_variable_symbol",
  "by_price",
  "by_variable_symbol_and_price",
  "by_all_symbols",
  "by_all_symbols_and_price",
] as const;

export const bankAccount = record({
  id: integer(),
  bankId: doc("Null when the bank is not in the lookup", orNull(idOf("banks"))),
  bank: orNull(nested("banks", bank)),
  isPrimary: doc("Used when a document names no account", boolean()),
  autoPaymentMatching: doc("Connected to open banking", boolean()),
  name: text(),
  iban: text(),
  swift: doc("SWIFT (BIC) code", text()),
  autoPairingStrategy: doc("How incoming payments find their document", oneOf(pairingStrategies)),
  balance: doc("Last balance known from open banking", orNull(decimal())),
  lastSyncedAt: doc("Last open banking read; local time of the service", orNull(timestamp())),
  openBankingValidUntil: doc("End of the open banking consent", orNull(date())),
  createdAt: doc("Local time of the service", orNull(timestamp())),
  updatedAt: doc("Local time of the service", orNull(timestamp())),
});

/** The account as a document shows it: the live one, also after its deletion. */
export const bankAccountReference = record({
  id: integer(),
  bankId: orNull(idOf("banks")),
  bank: orNull(nested("banks", bank)),
  name: text(),
  iban: text(),
  swift: text(),
  isPrimary: boolean(),
  autoPaymentMatching: boolean(),
});

export const bankAccounts = defineResource({
  name: "bank_accounts",
  singular: "bank_account",
  title: "Bank accounts",
  origin: "published",
  record: bankAccount,
  list: { kind: "whole", path: "/bank-accounts" },
  detail: "/bank-accounts/{id}",
  doc: "The company's own accounts",
});
