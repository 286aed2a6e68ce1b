import { z } from "zod";
import { hasCounter, isIban } from "../base/identifiers.ts";
import type { BankAccount } from "../model/company-records.ts";
import type { Warehouse } from "../model/warehouse-records.ts";
import { expectLookups } from "../rules/lookup-fields.ts";
import { check, refuse } from "../rules/refusals.ts";
import { id, parse, sentOnly, text } from "../rules/request-shape.ts";
import { addRecord, removeRecord, saveRecord, stampsOf, type Company } from "./company-state.ts";

const strategies = z.enum([
  "none",
  "by_variable_symbol",
  "by_price",
  "by_variable_symbol_and_price",
  "by_all_symbols",
  "by_all_symbols_and_price",
]);

/** Spaces in an IBAN do not count. */
const ibanText = text(64)
  .min(1)
  .transform((iban) => iban.replaceAll(" ", "").toUpperCase());

const accountInput = z.object({
  bankId: id().nullish(),
  name: text().min(1),
  iban: ibanText,
  swift: text().min(1),
  autoPairingStrategy: strategies.optional(),
});
const accountPatch = accountInput.partial().extend({ isPrimary: z.boolean().optional() });

function expectAccount(company: Company, sent: z.output<typeof accountPatch>, own: number | null): void {
  const { iban } = sent;
  check((problems) => {
    expectLookups(problems, sent);
    if (iban === undefined) return;
    const others = company.tables.bank_accounts.where((account) => account.id !== own);
    problems.expect(isIban(iban), "iban", "iban");
    problems.expect(!others.some((account) => account.iban === iban), "iban", "unique");
  });
}

/** Creates an account, which becomes the primary one. */
export function createAccount(company: Company, input: unknown): BankAccount {
  const { bankId = null, autoPairingStrategy = "by_variable_symbol", ...sent } = parse(accountInput, input);
  expectAccount(company, { bankId, ...sent }, null);
  unsetPrimary(company);
  return addRecord(company, "bank_accounts", {
    ...sent,
    bankId,
    autoPairingStrategy,
    isPrimary: true,
    openBanking: null,
    ...stampsOf(company),
  });
}

/** Changes only what is sent. An account cannot stop being the primary one by itself. */
export function updateAccount(company: Company, account: BankAccount, input: unknown): BankAccount {
  const { isPrimary, ...sent } = parse(accountPatch, input);
  expectAccount(company, sent, account.id);
  if (isPrimary === true && !account.isPrimary) unsetPrimary(company);
  return saveRecord(company, "bank_accounts", {
    ...account,
    ...sentOnly(sent),
    isPrimary: account.isPrimary || isPrimary === true,
    updatedAtMs: company.clock.nowMs(),
  });
}

/** There is at most one primary account. */
function unsetPrimary(company: Company): void {
  for (const account of company.tables.bank_accounts.values()) {
    const changed = { ...account, isPrimary: false, updatedAtMs: company.clock.nowMs() };
    if (account.isPrimary) saveRecord(company, "bank_accounts", changed);
  }
}

/** The account that documents get where none is named. */
export function primaryAccount(company: Company): BankAccount | undefined {
  return company.tables.bank_accounts.where(({ isPrimary }) => isPrimary)[0];
}

/** Removes the account; documents still show it. */
export function deleteAccount(company: Company, account: BankAccount): void {
  company.closedAccounts.set(account.id, { ...account, isPrimary: false });
  removeRecord(company, "bank_accounts", account);
}

const patterns = ["inboundNumericalSeriesPattern", "outboundNumericalSeriesPattern"] as const;
const warehouseInput = z.object({
  name: text().min(1),
  code: text().min(1),
  inboundNumericalSeriesPattern: text().min(1),
  inboundNumericalSeriesNextNumber: z.int().min(1),
  outboundNumericalSeriesPattern: text().min(1),
  outboundNumericalSeriesNextNumber: z.int().min(1),
});

function warehouseFrom(company: Company, input: unknown, own: number | null): Omit<Warehouse, "id"> {
  const sent = parse(warehouseInput, input);
  check((problems) => {
    const others = company.tables.warehouses.where((warehouse) => warehouse.id !== own);
    problems.expect(!others.some(({ code }) => code === sent.code), "code", "unique");
    for (const field of patterns) problems.expect(hasCounter(sent[field]), field, "counter");
  });
  return sent;
}

export function createWarehouse(company: Company, input: unknown): Warehouse {
  return addRecord(company, "warehouses", warehouseFrom(company, input, null));
}

export function updateWarehouse(company: Company, { id: own }: Warehouse, input: unknown): Warehouse {
  return saveRecord(company, "warehouses", { id: own, ...warehouseFrom(company, input, own) });
}

/** Removes the warehouse: not the last one, and none that a receipt still names. */
export function deleteWarehouse(company: Company, warehouse: Warehouse): void {
  const {
    warehouses,
    warehouse_inbound_receipts: inbound,
    warehouse_outbound_receipts: outbound,
  } = company.tables;
  if (warehouses.size <= 1) refuse("warehouse", "last_warehouse");
  const used = [inbound, outbound].some((receipts) => receipts.findBy("warehouse", warehouse.id).length > 0);
  if (used) refuse("warehouse", "warehouse_used");
  removeRecord(company, "warehouses", warehouse);
}
