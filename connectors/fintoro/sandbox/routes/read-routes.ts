import { z } from "zod";
import { paymentsOf } from "../domain/documents/balance.ts";
import { documentsOf, type Company, type Tables } from "../domain/company-state.ts";
import { lookupList, lookupNames } from "../lookups/lookup-lists.ts";
import { collections, documentKinds, documentTable, payableKinds } from "../model/catalogue.ts";
import type { DocumentKind } from "../model/company-records.ts";
import { Missing, refuse } from "../rules/refusals.ts";
import { parse } from "../rules/request-shape.ts";
import { logView } from "../view/activity-view.ts";
import { documentView, paymentView } from "../view/document-view.ts";
import {
  accountView,
  caseView,
  seriesView,
  statusView,
  subscriptionView,
  warehouseView,
} from "../view/settings-view.ts";
import { clientView, subjectView, supplierView } from "../view/contact-view.ts";
import { inboundView, itemView, outboundView } from "../view/stock-view.ts";
import { list, record, type Answer } from "../http/answer.ts";
import { listCases, listLogs } from "./crm-lists.ts";
import { listDocuments } from "./document-list.ts";
import { listClients, listSuppliers, searchSubjects, subjectById } from "./party-lists.ts";
import { listInbound, listItems, listOutbound } from "./stock-lists.ts";
import type { Call, Route } from "./router.ts";

/** Every route that only reads records. */
export function readingRoutes(): Route[] {
  return [
    get("/whoami", ({ company }) => record({ name: company.settings.name })),
    ...lookupNames.map((name) => get(`/${name}`, ({ language }) => list(lookupList(name, language)))),
    ...seriesRoutes(),
    get("/subjects", searchSubjects),
    get("/subjects/{id}", ({ id }) => record(subjectView(found(subjectById(id))))),
    ...partyRoutes(),
    ...crmRoutes(),
    ...houseRoutes(),
    ...documentKinds.flatMap(documentRoutes),
    ...paymentRoutes(),
  ];
}

function get(path: string, handle: (call: Call) => Answer): Route {
  return { method: "GET", path, scope: "read", handle };
}

function found<T>(thing: T | undefined): T {
  if (thing === undefined) throw new Missing();
  return thing;
}

/** The record that the path names, or 404. */
export function named<K extends keyof Tables>(
  call: Call,
  table: K,
): NonNullable<ReturnType<Tables[K]["get"]>> {
  return found(call.company.tables[table].get(call.id)) as NonNullable<ReturnType<Tables[K]["get"]>>;
}

function seriesRoutes(): Route[] {
  const query = z.object({
    documentType: z.enum(["invoice", "proforma", "credit-note", "order", "quotation"]),
  });
  return [
    get("/numerical-series", ({ company, query: sent }) => {
      const { documentType } = parse(query, sent);
      const series = [...company.tables.numerical_series.values()];
      return list(
        series.filter((one) => one.documentKind === documentType).map((one) => seriesView(company, one)),
      );
    }),
    get("/numerical-series/{id}", (call) =>
      record(seriesView(call.company, named(call, "numerical_series"))),
    ),
  ];
}

function partyRoutes(): Route[] {
  return [
    get("/clients", listClients),
    get("/clients/{id}", (call) => record(clientView(named(call, "clients"), call.language))),
    get("/suppliers", listSuppliers),
    get("/suppliers/{id}", (call) => record(supplierView(named(call, "suppliers"), call.language))),
  ];
}

function crmRoutes(): Route[] {
  return [
    get("/business-case-statuses", ({ company }) =>
      list([...company.tables.business_case_statuses.values()].map(statusView)),
    ),
    get("/business-case-statuses/{id}", (call) => record(statusView(named(call, "business_case_statuses")))),
    get("/business-cases", listCases),
    get("/business-cases/{id}", (call) =>
      record(caseView(call.company, named(call, "business_cases"), call.language)),
    ),
    get("/contact-activity-logs", listLogs),
    get("/contact-activity-logs/{id}", (call) =>
      record(logView(call.company, named(call, "contact_activity_logs"), call.language)),
    ),
  ];
}

function houseRoutes(): Route[] {
  return [
    get("/bank-accounts", ({ company, language }) =>
      list([...company.tables.bank_accounts.values()].map((account) => accountView(account, language))),
    ),
    get("/bank-accounts/{id}", (call) => record(accountView(named(call, "bank_accounts"), call.language))),
    get("/warehouses", ({ company }) => list([...company.tables.warehouses.values()].map(warehouseView))),
    get("/warehouses/{id}", (call) => record(warehouseView(named(call, "warehouses")))),
    get("/warehouse-inbound-receipts", listInbound),
    get("/warehouse-inbound-receipts/{id}", (call) =>
      record(inboundView(call.company, named(call, "warehouse_inbound_receipts"), call.language)),
    ),
    get("/warehouse-outbound-receipts", listOutbound),
    get("/warehouse-outbound-receipts/{id}", (call) =>
      record(outboundView(call.company, named(call, "warehouse_outbound_receipts"), call.language)),
    ),
    get("/price-list-items", listItems),
    get("/price-list-items/{id}", (call) =>
      record(itemView(call.company, named(call, "price_list_items"), call.language)),
    ),
    get("/webhook-subscriptions", ({ company }) =>
      list([...company.tables.webhook_subscriptions.values()].map((one) => subscriptionView(company, one))),
    ),
    get("/webhook-subscriptions/{id}", (call) =>
      record(subscriptionView(call.company, named(call, "webhook_subscriptions"))),
    ),
  ];
}

function documentRoutes(kind: DocumentKind): Route[] {
  const { path } = collections[documentTable[kind]];
  return [
    get(`/${path}`, (call) => listDocuments(call, kind)),
    get(`/${path}/{id}`, (call) => record(documentView(call.company, documentAt(call, kind), call.language))),
  ];
}

export function documentAt({ company, id }: Call, kind: DocumentKind) {
  return found(documentsOf(company, kind).get(id));
}

function paymentRoutes(): Route[] {
  const query = z.object({
    documentType: z.enum(["invoice", "proforma", "credit-note"]),
    documentId: z
      .string()
      .regex(/^\d{1,15}$/)
      .transform(Number),
  });
  return [
    get("/document-payments", ({ company, query: sent, language }) => {
      const { documentType, documentId } = parse(query, sent);
      expectPayable(company, documentType, documentId);
      return list(
        paymentsOf(company, documentType, documentId).map((one) => paymentView(company, one, language)),
      );
    }),
    get("/document-payments/{id}", (call) =>
      record(paymentView(call.company, named(call, "document_payments"), call.language)),
    ),
  ];
}

function expectPayable(company: Company, kind: DocumentKind, id: number): void {
  if (!payableKinds.includes(kind)) refuse("documentType", "in");
  if (!documentsOf(company, kind).has(id)) refuse("documentId", "exists");
}
