import type { JsonObject } from "../base/values.ts";
import type { Company, RecordOf, Tables } from "../domain/company-state.ts";
import type { Language } from "../lookups/languages.ts";
import { logView } from "../view/activity-view.ts";
import { clientView, supplierView } from "../view/contact-view.ts";
import { documentView, paymentView } from "../view/document-view.ts";
import * as settings from "../view/settings-view.ts";
import { itemView, receiptViewOf } from "../view/stock-view.ts";

/** What a detail shows of a record. */
export type View<T> = (company: Company, record: T, language: Language) => JsonObject;

const recordViews: { readonly [K in keyof Tables]: View<RecordOf<K>> } = {
  clients: (_, client, language) => clientView(client, language),
  suppliers: (_, supplier, language) => supplierView(supplier, language),
  bank_accounts: (_, account, language) => settings.accountView(account, language),
  business_case_statuses: (_, status) => ({ ...status }),
  business_cases: settings.caseView,
  contact_activity_logs: logView,
  warehouses: (_, warehouse) => ({ ...warehouse }),
  warehouse_inbound_receipts: receiptViewOf("inbound"),
  warehouse_outbound_receipts: receiptViewOf("outbound"),
  price_list_items: itemView,
  invoices: documentView,
  credit_notes: documentView,
  proformas: documentView,
  orders: documentView,
  quotations: documentView,
  document_payments: paymentView,
  webhook_subscriptions: settings.subscriptionView,
  numerical_series: settings.seriesView,
};

/** The tables whose records have a detail. */
export const tablesWithViews = Object.keys(recordViews) as readonly (keyof Tables)[];

/** The view of a table's records, as their own route shows them. */
export function detailViewOf<K extends keyof Tables>(name: K): View<RecordOf<K>> {
  return recordViews[name];
}
