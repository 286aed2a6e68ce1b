import { documentsOf, type Company, type Tables } from "./domain/company-state.ts";
import { lookupList, lookupNames } from "./lookups/lookup-lists.ts";
import type { Language } from "./lookups/languages.ts";
import { documentKinds, documentTable } from "./model/catalogue.ts";
import type { Table } from "./model/record-table.ts";
import { logView } from "./view/activity-view.ts";
import { documentView, paymentView } from "./view/document-view.ts";
import {
  accountView,
  caseView,
  seriesView,
  statusView,
  subscriptionView,
  warehouseView,
} from "./view/settings-view.ts";
import type { JsonObject } from "./base/values.ts";
import { clientView, supplierView } from "./view/contact-view.ts";
import { inboundView, itemView, outboundView } from "./view/stock-view.ts";

/** Table name -> id -> record. The company's own record has id 1. */
export type Snapshot = ReadonlyMap<string, ReadonlyMap<number, JsonObject>>;

/** Everything a company has, each record as its own route would show it now. */
export function snapshotOf(company: Company, language: Language): Snapshot {
  const { tables } = company;
  const all: [string, Map<number, JsonObject>][] = [
    ["company", new Map([[1, { name: company.settings.name }]])],
    ...lookupNames.map((name): [string, Map<number, JsonObject>] => [
      name.replaceAll("-", "_"),
      new Map(lookupList(name, language).map((one) => [one["id"] as number, one])),
    ]),
    ["clients", viewed(tables.clients, (one) => clientView(one, language))],
    ["suppliers", viewed(tables.suppliers, (one) => supplierView(one, language))],
    ["bank_accounts", viewed(tables.bank_accounts, (one) => accountView(one, language))],
    ["business_case_statuses", viewed(tables.business_case_statuses, statusView)],
    ["warehouses", viewed(tables.warehouses, warehouseView)],
    ...companyViews(company, language),
    ...documentKinds.map((kind): [string, Map<number, JsonObject>] => [
      documentTable[kind],
      viewed(documentsOf(company, kind), (one) => documentView(company, one, language)),
    ]),
  ];
  return new Map(all);
}

/** Those whose view needs more of the company than the record itself. */
function companyViews(company: Company, language: Language): [string, Map<number, JsonObject>][] {
  const { tables } = company;
  type View<T> = (company: Company, record: T, language: Language) => JsonObject;
  const row = <T extends { readonly id: number }>(
    name: keyof Tables,
    table: Table<T>,
    view: View<T>,
  ): [string, Map<number, JsonObject>] => [name, viewed(table, (one) => view(company, one, language))];
  return [
    row("business_cases", tables.business_cases, caseView),
    row("contact_activity_logs", tables.contact_activity_logs, logView),
    row("warehouse_inbound_receipts", tables.warehouse_inbound_receipts, inboundView),
    row("warehouse_outbound_receipts", tables.warehouse_outbound_receipts, outboundView),
    row("price_list_items", tables.price_list_items, itemView),
    row("document_payments", tables.document_payments, paymentView),
    row("webhook_subscriptions", tables.webhook_subscriptions, subscriptionView),
    row("numerical_series", tables.numerical_series, seriesView),
  ];
}

function viewed<T extends { readonly id: number }>(
  table: Table<T>,
  view: (record: T) => JsonObject,
): Map<number, JsonObject> {
  return new Map([...table.values()].map((record) => [record.id, view(record)]));
}
