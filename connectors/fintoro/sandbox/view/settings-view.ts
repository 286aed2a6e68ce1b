import { plainStamp } from "../base/calendar.ts";
import { formatNumber, variableSymbol } from "../base/identifiers.ts";
import { omit, pick } from "../base/values.ts";
import type { Company } from "../domain/company-state.ts";
import type { Language } from "../lookups/languages.ts";
import { lookup } from "../lookups/lookup-lists.ts";
import type { BankAccount, BusinessCase, Series, Subscription } from "../model/company-records.ts";
import { clientView, stampsView, supplierView } from "./contact-view.ts";

/** A bank account as its route and the list show it. Its times have no offset. */
export function accountView(account: BankAccount, language: Language) {
  const { openBanking } = account;
  return {
    ...accountReference(account, language),
    autoPairingStrategy: account.autoPairingStrategy,
    balance: openBanking?.balance ?? null,
    lastSyncedAt: openBanking ? plainStamp(openBanking.syncedAtMs) : null,
    openBankingValidUntil: openBanking?.until ?? null,
    createdAt: plainStamp(account.createdAtMs),
    updatedAt: plainStamp(account.updatedAtMs),
  };
}

/** A bank account as documents show it. */
export function accountReference(account: BankAccount, language: Language) {
  const { bankId } = account;
  return {
    ...pick(account, ["id", "bankId", "isPrimary", "name", "iban", "swift"]),
    bank: bankId === null ? null : lookup("banks", bankId, language),
    autoPaymentMatching: account.openBanking !== null,
  };
}

/** A business case with its contact and its status. */
export function caseView({ tables }: Company, item: BusinessCase, language: Language) {
  const { contactType, contactId, statusId } = item;
  const client = contactType === "client" ? tables.clients.get(contactId) : undefined;
  const supplier = contactType === "supplier" ? tables.suppliers.get(contactId) : undefined;
  const status = tables.business_case_statuses.get(statusId ?? 0);
  return {
    ...omit(item, ["statusId", "createdAtMs", "updatedAtMs"]),
    client: client ? clientView(client, language) : null,
    supplier: supplier ? supplierView(supplier, language) : null,
    status: status ? { ...status } : null,
    ...stampsView(item),
  };
}

/** A number series, with the number that it gives next. */
export function seriesView({ settings }: Company, series: Series) {
  const number = formatNumber(series.pattern, settings.today, series.nextNumber);
  return {
    ...omit(series, ["documentKind"]),
    documentType: series.documentKind,
    nextDocumentNumber: number,
    nextVariableSymbol: variableSymbol(number),
  };
}

const utcStamp = (ms: number | null) => (ms === null ? null : `${new Date(ms).toISOString().slice(0, 19)}Z`);

/** A webhook subscription without its secret. */
export function subscriptionView(company: Company, subscription: Subscription) {
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
