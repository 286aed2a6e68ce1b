import { z } from "zod";
import { plainStamp } from "../base/calendar.ts";
import { pick } from "../base/values.ts";
import { lookup, type ServiceLanguage } from "../lookups/lookup-lists.ts";
import { eventTypes } from "../model/catalogue.ts";
import type { Company, BookRow } from "../model/company.ts";
import { refuse, sentOnly } from "../rules/rules.ts";
import { collection } from "./collection.ts";

/**
 * A new account becomes the primary one, which it cannot stop being by itself. Its times have no offset. Documents
 * still show one that is removed.
 */
export const accounts = collection("bank_accounts", {
  shape: z.object({
    bankId: z.int().nullish(),
    name: z.string(),
    /** Spaces do not count. */
    iban: z.string().transform((iban) => iban.replaceAll(" ", "").toUpperCase()),
    swift: z.string(),
    autoPairingStrategy: z.string().optional(),
    isPrimary: z.boolean().optional(),
  }),
  unique: ["iban"],
  facts: ({ company, sent, own }) => {
    const isPrimary = own === null || sent.isPrimary === true || own.isPrimary;
    const primary = primaryAccount(company);
    if (isPrimary && primary && primary.id !== own?.id)
      accounts.change(company, primary, { isPrimary: false });
    const start = { autoPairingStrategy: "by_variable_symbol", bankId: null, openBanking: null };
    return { ...start, ...own, ...sentOnly(sent), isPrimary };
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
  beforeRemove: ({ closedAccounts }, account) =>
    void closedAccounts.set(account.id, { ...account, isPrimary: false }),
});

/** The account that documents get where none is named. */
export function primaryAccount({ tables }: Company): BookRow | undefined {
  return tables.bank_accounts.where(({ isPrimary }) => isPrimary)[0];
}

export function accountReference(account: BookRow, language: ServiceLanguage) {
  return {
    ...pick(account, ["id", "bankId", "isPrimary", "name", "iban", "swift"]),
    bank: lookup("banks", account.bankId, language),
    autoPaymentMatching: account.openBanking !== null,
  };
}

const utcStamp = (ms: number | null) => (ms === null ? null : `${new Date(ms).toISOString().slice(0, 19)}Z`);

/** Webhook subscriptions have no events of their own. Replacing one keeps its secret, which is shown when it is new. */
export const subscriptions = collection("webhook_subscriptions", {
  shape: z.object({
    name: z.string().nullable().default(null),
    url: z.string(),
    isActive: z.boolean(),
    subscribedEvents: z.array(z.enum(eventTypes as [string, ...string[]])).min(1),
  }),
  facts: ({ company, sent, own }) => {
    const { protocol, hostname } = URL.parse(sent.url) ?? {};
    const isLoopback = /^(localhost|\[::1\]|127\.[\d.]+)$/.test(hostname ?? "");
    if (protocol !== "https:" && !(isLoopback && company.allowLoopbackWebhooks)) refuse("url");
    const { secret = newSecret(company), lastSuccessAtMs = null, lastFailureAtMs = null } = own ?? {};
    return { ...sent, secret, lastSuccessAtMs, lastFailureAtMs };
  },
  view: ({ index }, own, _, isNew) => ({
    ...pick(own, ["id", "name", "url", "isActive", "subscribedEvents"]),
    companyId: index + 1,
    lastSuccessAt: utcStamp(own.lastSuccessAtMs),
    lastFailureAt: utcStamp(own.lastFailureAtMs),
    disabledAt: null,
    disabledReason: null,
    createdAt: utcStamp(own.createdAtMs),
    updatedAt: utcStamp(own.updatedAtMs),
    ...(isNew && { plainTextSecret: own.secret }),
  }),
});

export function rotateSecret(company: Company, own: BookRow): BookRow {
  return subscriptions.change(company, own, { secret: newSecret(company) });
}

const newSecret = ({ random }: Company) => `whsec_${random.uuid().replaceAll("-", "")}`;
