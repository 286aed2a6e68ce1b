import { z } from "zod";
import type { BankAccount, Warehouse } from "../model/company-records.ts";
import { expectLookups } from "../rules/lookup-fields.ts";
import { Problems, refuse } from "../rules/refusals.ts";
import { id, parse, text } from "../rules/request-shape.ts";
import { isIban } from "../base/identifiers.ts";
import type { Company } from "./company-state.ts";
import { emit } from "./emit.ts";
import { hasCounter } from "../base/document-numbers.ts";

const strategies = z.enum([
  "none",
  "by_variable_symbol",
  "by_price",
  "by_variable_symbol_and_price",
  "by_all_symbols",
  "by_all_symbols_and_price",
]);

const accountInput = z.object({
  bankId: id().nullish(),
  name: text().min(1),
  iban: text(64).min(1),
  swift: text().min(1),
  autoPairingStrategy: strategies.optional(),
});
const accountPatch = accountInput.partial().extend({ isPrimary: z.boolean().optional() });

function checkAccount(company: Company, sent: z.output<typeof accountPatch>, own: number | null): void {
  const problems = new Problems();
  expectLookups(problems, sent);
  if (sent.iban !== undefined) {
    const plain = plainIban(sent.iban);
    const others = [...company.tables.bank_accounts.values()].filter((account) => account.id !== own);
    problems.expect(isIban(plain), "iban", "iban");
    problems.expect(!others.some((account) => account.iban === plain), "iban", "unique");
  }
  problems.settle();
}

function plainIban(iban: string): string {
  return iban.replaceAll(" ", "").toUpperCase();
}

/** Every new account becomes the primary one. */
export function createAccount(company: Company, input: unknown): BankAccount {
  const sent = parse(accountInput, input);
  checkAccount(company, sent, null);
  dethrone(company);
  const now = company.clock.nowMs();
  const account = company.tables.bank_accounts.add((newId) => ({
    id: newId,
    bankId: sent.bankId ?? null,
    isPrimary: true,
    name: sent.name,
    iban: plainIban(sent.iban),
    swift: sent.swift,
    autoPairingStrategy: sent.autoPairingStrategy ?? "by_variable_symbol",
    openBanking: null,
    createdAtMs: now,
    updatedAtMs: now,
  }));
  emit(company, "bank_accounts", "created", account.id);
  return account;
}

export function updateAccount(company: Company, account: BankAccount, input: unknown): BankAccount {
  const { isPrimary, ...sent } = parse(accountPatch, input);
  checkAccount(company, sent, account.id);
  const promoted = isPrimary === true && !account.isPrimary;
  if (promoted) dethrone(company);
  const given = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined));
  const saved = company.tables.bank_accounts.replace({
    ...account,
    ...given,
    iban: sent.iban === undefined ? account.iban : plainIban(sent.iban),
    isPrimary: account.isPrimary || promoted,
    updatedAtMs: company.clock.nowMs(),
  });
  emit(company, "bank_accounts", "updated", account.id);
  return saved;
}

/** There is one primary account at most. */
function dethrone(company: Company): void {
  for (const account of company.tables.bank_accounts.values()) {
    if (!account.isPrimary) continue;
    company.tables.bank_accounts.replace({
      ...account,
      isPrimary: false,
      updatedAtMs: company.clock.nowMs(),
    });
    emit(company, "bank_accounts", "updated", account.id);
  }
}

/** Documents go on showing it. */
export function deleteAccount(company: Company, account: BankAccount): void {
  company.closedAccounts.set(account.id, { ...account, isPrimary: false });
  company.tables.bank_accounts.remove(account.id);
  emit(company, "bank_accounts", "deleted", account.id);
}

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
  const problems = new Problems();
  const others = [...company.tables.warehouses.values()].filter((warehouse) => warehouse.id !== own);
  problems.expect(!others.some(({ code }) => code === sent.code), "code", "unique");
  for (const field of ["inboundNumericalSeriesPattern", "outboundNumericalSeriesPattern"] as const) {
    problems.expect(hasCounter(sent[field]), field, "counter");
  }
  problems.settle();
  return sent;
}

export function createWarehouse(company: Company, input: unknown): Warehouse {
  const facts = warehouseFrom(company, input, null);
  const warehouse = company.tables.warehouses.add((newId) => ({ id: newId, ...facts }));
  emit(company, "warehouses", "created", warehouse.id);
  return warehouse;
}

export function updateWarehouse(company: Company, warehouse: Warehouse, input: unknown): Warehouse {
  const saved = company.tables.warehouses.replace({
    id: warehouse.id,
    ...warehouseFrom(company, input, warehouse.id),
  });
  emit(company, "warehouses", "updated", warehouse.id);
  return saved;
}

/** Not the last one, and none that receipts still name: their answer shows it. */
export function deleteWarehouse(company: Company, warehouse: Warehouse): void {
  const {
    warehouses,
    warehouse_inbound_receipts: inbound,
    warehouse_outbound_receipts: outbound,
  } = company.tables;
  if (warehouses.size <= 1) refuse("warehouse", "last_warehouse");
  for (const receipts of [inbound, outbound]) {
    for (const receipt of receipts.values()) {
      if (receipt.warehouseId === warehouse.id) refuse("warehouse", "warehouse_used");
    }
  }
  warehouses.remove(warehouse.id);
  emit(company, "warehouses", "deleted", warehouse.id);
}
