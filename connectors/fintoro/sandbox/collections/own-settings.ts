import { z } from "zod";
import { plainStamp } from "../base/calendar.ts";
import { pick, type JsonObject } from "../base/values.ts";
import type { Language } from "../lookups/languages.ts";
import { lookup } from "../lookups/lookup-lists.ts";
import { eventTypes } from "../model/catalogue.ts";
import type { Company } from "../model/company-state.ts";
import type { BankAccount, Subscription } from "../model/records.ts";
import { refuse } from "../rules/problems.ts";
import { sentOnly } from "../rules/request-shape.ts";
import { collection, stampsOf } from "./collection.ts";

const accountShape = z.object({
  bankId: z.int().nullish(),
  name: z.string(),
  /** Spaces do not count. */
  iban: z.string().transform((iban) => iban.replaceAll(" ", "").toUpperCase()),
  swift: z.string(),
  autoPairingStrategy: z.string().optional(),
  isPrimary: z.boolean().optional(),
});

const newAccount = { autoPairingStrategy: "by_variable_symbol", bankId: null, openBanking: null };

/**
 * A new account becomes the primary one, which it cannot stop being by itself. Its times have no offset. Documents
 * still show one that is removed.
 */
export const accounts = collection("bank_accounts", {
  shape: accountShape,
  unique: ["iban"],
  facts: ({ company, sent, own }) => {
    const isPrimary = own === null || sent.isPrimary === true || own.isPrimary;
    const primary = primaryAccount(company);
    if (isPrimary && primary && primary.id !== own?.id)
      accounts.change(company, primary, { isPrimary: false, ...stampsOf(company, primary) });
    const facts = sentOnly(sent) as typeof sent & typeof newAccount;
    return { ...newAccount, ...own, ...facts, isPrimary, ...stampsOf(company, own) };
  },
  view: (_, account, language) => ({
    ...accountReference(account, language),
    autoPairingStrategy: account.autoPairingStrategy,
    balance: account.openBanking?.balance ?? null,
    lastSyncedAt: account.openBanking && plainStamp(account.openBanking.syncedAtMs),
    openBankingValidUntil: account.openBanking?.until ?? null,
    createdAt: plainStamp(account.createdAtMs),
    updatedAt: plainStamp(account.updatedAtMs),
  }),
  method: "PATCH",
  idempotent: false,
  beforeRemove: ({ closedAccounts }, account) =>
    void closedAccounts.set(account.id, { ...account, isPrimary: false }),
});

/** The account that documents get where none is named. */
export function primaryAccount({ tables }: Company): BankAccount | undefined {
  return tables.bank_accounts.where(({ isPrimary }) => isPrimary)[0];
}

/** A bank account as documents show it. */
export function accountReference(account: BankAccount, language: Language) {
  return {
    ...pick(account, ["id", "bankId", "isPrimary", "name", "iban", "swift"]),
    bank: lookup("banks", account.bankId, language),
    autoPaymentMatching: account.openBanking !== null,
  };
}

const subscriptionShape = z.object({
  name: z.string().nullable().default(null),
  url: z.string(),
  isActive: z.boolean(),
  subscribedEvents: z.array(z.enum(eventTypes as [string, ...string[]])).min(1),
});

/** Webhook subscriptions have no events of their own. Replacing one keeps its secret. */
export const subscriptions = collection("webhook_subscriptions", {
  shape: subscriptionShape,
  facts: ({ company, sent, own }) => {
    const { protocol, hostname } = URL.parse(sent.url) ?? {};
    const isLoopback = /^(localhost|\[::1\]|127\.[\d.]+)$/.test(hostname ?? "");
    if (protocol !== "https:" && !(isLoopback && company.settings.allowLoopbackWebhooks)) refuse("url");
    const { secret = newSecret(company), lastSuccessAtMs = null, lastFailureAtMs = null } = own ?? {};
    return { ...sent, secret, lastSuccessAtMs, lastFailureAtMs, ...stampsOf(company, own) };
  },
  view: subscriptionView,
  createdView: viewWithSecret,
});

const utcStamp = (ms: number | null) => (ms === null ? null : `${new Date(ms).toISOString().slice(0, 19)}Z`);

/** A subscription without its secret. */
function subscriptionView(company: Company, subscription: Subscription): JsonObject {
  return {
    ...pick(subscription, ["id", "name", "url", "isActive", "subscribedEvents"]),
    companyId: company.index + 1,
    lastSuccessAt: utcStamp(subscription.lastSuccessAtMs),
    lastFailureAt: utcStamp(subscription.lastFailureAtMs),
    disabledAt: null,
    disabledReason: null,
    createdAt: utcStamp(subscription.createdAtMs),
    updatedAt: utcStamp(subscription.updatedAtMs),
  };
}

/** The secret is shown when it is new, and never again. */
export function viewWithSecret(company: Company, subscription: Subscription): JsonObject {
  return { ...subscriptionView(company, subscription), plainTextSecret: subscription.secret };
}

/** Gives the subscription another secret. */
export function rotateSecret(company: Company, own: Subscription): Subscription {
  return subscriptions.change(company, own, { secret: newSecret(company), ...stampsOf(company, own) });
}

function newSecret({ random }: Company): string {
  return `whsec_${random.uuid().replaceAll("-", "")}`;
}
