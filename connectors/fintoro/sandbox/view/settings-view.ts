import { offsetStamp, plainStamp, yearOf } from "../base/calendar.ts";
import { formatNumber, variableSymbol } from "../base/document-numbers.ts";
import type { Company } from "../domain/company-state.ts";
import type { Language } from "../lookups/languages.ts";
import { lookup } from "../lookups/lookup-lists.ts";
import type {
  BankAccount,
  BusinessCase,
  CaseStatus,
  Series,
  Subscription,
  Warehouse,
} from "../model/company-records.ts";
import { clientView, supplierView } from "./contact-view.ts";

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

/** As documents show it. */
export function accountReference(account: BankAccount, language: Language) {
  const { id, bankId, isPrimary, name, iban, swift } = account;
  const bank = bankId === null ? null : lookup("banks", bankId, language);
  return {
    id,
    bankId,
    bank,
    isPrimary,
    autoPaymentMatching: account.openBanking !== null,
    name,
    iban,
    swift,
  };
}

export function statusView({ id, name, color }: CaseStatus) {
  return { id, name, color };
}

export function caseView(company: Company, item: BusinessCase, language: Language) {
  const { clients, suppliers, business_case_statuses: statuses } = company.tables;
  const client = item.contactType === "client" ? clients.get(item.contactId) : undefined;
  const supplier = item.contactType === "supplier" ? suppliers.get(item.contactId) : undefined;
  const status = item.statusId === null ? undefined : statuses.get(item.statusId);
  return {
    id: item.id,
    contactType: item.contactType,
    contactId: item.contactId,
    client: client ? clientView(client, language) : null,
    supplier: supplier ? supplierView(supplier, language) : null,
    name: item.name,
    description: item.description,
    status: status ? statusView(status) : null,
    boardPosition: item.boardPosition,
    createdAt: offsetStamp(item.createdAtMs),
    updatedAt: offsetStamp(item.updatedAtMs),
  };
}

export function warehouseView(warehouse: Warehouse) {
  return { ...warehouse };
}

export function seriesView(company: Company, series: Series) {
  const { id, documentKind, name, pattern, nextNumber, isDefault } = series;
  const number = nextNumberOf(company, series);
  return {
    id,
    documentType: documentKind,
    name,
    pattern,
    nextNumber,
    nextDocumentNumber: number,
    nextVariableSymbol: variableSymbol(number),
    isDefault,
  };
}

function nextNumberOf(company: Company, { pattern, nextNumber }: Series): string {
  const { today } = company.settings;
  const month = new Date(today * 86_400_000).getUTCMonth() + 1;
  return formatNumber(pattern, { year: yearOf(today), month, counter: nextNumber });
}

const utcStamp = (ms: number | null) => (ms === null ? null : `${new Date(ms).toISOString().slice(0, 19)}Z`);

export function subscriptionView(company: Company, subscription: Subscription) {
  const { id, name, url, isActive, subscribedEvents } = subscription;
  return {
    id,
    companyId: company.index + 1,
    name,
    url,
    isActive,
    subscribedEvents,
    lastSuccessAt: utcStamp(subscription.lastSuccessAtMs),
    lastFailureAt: utcStamp(subscription.lastFailureAtMs),
    disabledAt: null,
    disabledReason: null,
    createdAt: utcStamp(subscription.createdAtMs),
    updatedAt: utcStamp(subscription.updatedAtMs),
  };
}
