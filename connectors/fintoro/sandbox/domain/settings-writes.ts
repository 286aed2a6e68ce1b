import { z } from "zod";
import { hasCounter, isIban } from "../base/identifiers.ts";
import { eventTypes } from "../model/catalogue.ts";
import type { BankAccount, Subscription } from "../model/company-records.ts";
import { itemShape, warehouseShape, type PriceListItem, type Warehouse } from "../model/warehouse-records.ts";
import { check, expectLookups, refuse } from "../rules/problems.ts";
import { filled, id, parse, sentOnly, text } from "../rules/request-shape.ts";
import { endpointFlaws } from "../rules/webhook-address.ts";
import type { Company } from "./company-state.ts";
import { recordWrites, saveRecord, stampsOf } from "./record-writes.ts";

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
  /** Spaces do not count. */
  iban: text(64)
    .min(1)
    .transform((iban) => iban.replaceAll(" ", "").toUpperCase()),
  swift: text().min(1),
  autoPairingStrategy: strategies.optional(),
});
const accountPatch = accountInput.partial().extend({ isPrimary: z.boolean().optional() });

/** A new account becomes the primary one. Documents still show an account that is removed. */
export const accountWrites = recordWrites("bank_accounts", accountFrom, (company, account) => {
  company.closedAccounts.set(account.id, { ...account, isPrimary: false });
});

/** A change concerns only what is sent. An account cannot stop being the primary one by itself. */
function accountFrom(company: Company, input: unknown, own: BankAccount | null): Omit<BankAccount, "id"> {
  const { isPrimary, ...sent } = own
    ? parse(accountPatch, input)
    : { isPrimary: true, ...parse(accountInput, input) };
  const { iban } = sent;
  check((problems) => {
    expectLookups(problems, sent);
    if (iban === undefined) return;
    problems.expect(isIban(iban), "iban", "iban");
    const same = company.tables.bank_accounts.where((account) => account.iban === iban);
    problems.expectUnique("iban", same, own);
  });
  if (isPrimary === true && !own?.isPrimary) unsetPrimary(company);
  return {
    ...(own ?? newAccount),
    ...sentOnly(sent),
    isPrimary: own?.isPrimary === true || isPrimary === true,
    ...stampsOf(company, own),
  };
}

const newAccount = {
  bankId: null,
  name: "",
  iban: "",
  swift: "",
  autoPairingStrategy: "by_variable_symbol",
  openBanking: null,
};

/** There is at most one primary account. */
function unsetPrimary(company: Company): void {
  for (const account of company.tables.bank_accounts.values()) {
    const changed = { ...account, isPrimary: false, ...stampsOf(company, account) };
    if (account.isPrimary) saveRecord(company, "bank_accounts", changed);
  }
}

/** The account that documents get where none is named. */
export function primaryAccount({ tables }: Company): BankAccount | undefined {
  return tables.bank_accounts.where(({ isPrimary }) => isPrimary)[0];
}

const patterns = ["inboundNumericalSeriesPattern", "outboundNumericalSeriesPattern"] as const;

/** The last warehouse stays, and every warehouse that a receipt still names. */
export const warehouseWrites = recordWrites("warehouses", warehouseFrom, ({ tables }, { id: own }) => {
  if (tables.warehouses.size <= 1) refuse("warehouse", "last_warehouse");
  const receipts = [tables.warehouse_inbound_receipts, tables.warehouse_outbound_receipts];
  if (receipts.some((table) => table.findBy("warehouse", own).length > 0))
    refuse("warehouse", "warehouse_used");
});

function warehouseFrom({ tables }: Company, input: unknown, own: Warehouse | null) {
  const sent = parse(warehouseShape, input);
  check((problems) => {
    problems.expectUnique(
      "code",
      tables.warehouses.where(({ code }) => code === sent.code),
      own,
    );
    for (const field of patterns) problems.expect(hasCounter(sent[field]), field, "counter");
  });
  return sent;
}

/** Creating, replacing and removing items of the price list. */
export const priceListWrites = recordWrites("price_list_items", itemFrom);

function itemFrom({ tables }: Company, input: unknown, own: PriceListItem | null) {
  const item = filled(itemShape, parse(itemShape, input));
  check((problems) => {
    expectLookups(problems, item);
    problems.expect(!item.useWarehouse || item.warehouseCode !== null, "warehouseCode", "required");
    for (const field of ["ean", "warehouseCode"] as const) {
      problems.expectUnique(field, tables.price_list_items.findBy(field, item[field] ?? ""), own);
    }
  });
  return item;
}

const subscriptionInput = z.object({
  name: text().nullable().default(null),
  url: text(2048).min(1),
  isActive: z.boolean(),
  subscribedEvents: z.array(z.enum(eventTypes as [string, ...string[]])).min(1),
});

/** Webhook subscriptions have no events of their own. Replacing one keeps its secret. */
export const subscriptionWrites = recordWrites("webhook_subscriptions", (company, input, own) => {
  const sent = parse(subscriptionInput, input);
  const flaws = endpointFlaws(sent.url, company.settings.allowLoopbackWebhooks);
  check((problems) => flaws.forEach((flaw) => problems.add("url", flaw)));
  const { secret = newSecret(company), lastSuccessAtMs = null, lastFailureAtMs = null } = own ?? {};
  return { ...sent, secret, lastSuccessAtMs, lastFailureAtMs, ...stampsOf(company, own) };
});

/** Gives the subscription another secret. */
export function rotateSecret(company: Company, own: Subscription): Subscription {
  const rotated = { ...own, secret: newSecret(company), ...stampsOf(company, own) };
  return company.tables.webhook_subscriptions.replace(rotated);
}

function newSecret({ random }: Company): string {
  return `whsec_${random.uuid().replaceAll("-", "")}`;
}
