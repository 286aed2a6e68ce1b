import type { JsonObject } from "../base/values.ts";
import type { Company, RecordOf, Tables } from "../domain/company-state.ts";
import * as settings from "../domain/company-settings.ts";
import { createLog, deleteLog, updateLog } from "../domain/crm/activities.ts";
import * as cases from "../domain/crm/case-board.ts";
import * as contacts from "../domain/crm/contacts.ts";
import { createDocument, deleteDocument, updateDocument } from "../domain/documents/document-rules.ts";
import { createPayment, deletePayment } from "../domain/documents/payment-rules.ts";
import { createItem, deleteItem, updateItem } from "../domain/warehouse/price-list.ts";
import { createReceipt, deleteReceipt, updateReceipt, type Side } from "../domain/warehouse/receipts.ts";
import { createSubscription, deleteSubscription, updateSubscription } from "../domain/webhook-targets.ts";
import { list, nothing, record, type Answer } from "../http/answer.ts";
import { collections, documentKinds, documentTable, type TableName } from "../model/catalogue.ts";
import type { Document, DocumentKind, Subscription } from "../model/company-records.ts";
import type { Receipt } from "../model/warehouse-records.ts";
import { Missing } from "../rules/refusals.ts";
import { subscriptionView } from "../view/settings-view.ts";
import { documentList } from "./document-list.ts";
import * as lists from "./record-lists.ts";
import { viewOf, type View } from "./record-views.ts";
import { get, write, type Call, type Method, type Route } from "./router.ts";

type Create<T> = (company: Company, input: unknown) => T;
type Update<T> = (company: Company, own: T, input: unknown) => T;
type Remove<T> = (company: Company, own: T) => void;

/** How the records of one table are read and written. */
interface RecordRules<T> {
  /** Without an update the records do not change. */
  readonly writes: readonly [Create<T>, Update<T> | null, Remove<T>];
  /** @default all records in one answer */
  readonly list?: (call: Call) => Answer;
  /** @default "PUT" */
  readonly method?: Method;
  /** Does POST take an `Idempotency-Key`? @default true */
  readonly idempotent?: boolean;
  /** What the answer to POST shows. @default what the detail shows */
  readonly createdView?: View<T>;
}

/** The routes of every table: list, detail, create, update, delete. */
export function recordRoutes(): Route[] {
  const { createClient, updateClient, deleteClient, createSupplier, updateSupplier, deleteSupplier } =
    contacts;
  const { createStatus, updateStatus, deleteStatus, createCase, updateCase, deleteCase } = cases;
  const { createAccount, updateAccount, deleteAccount } = settings;
  const { createWarehouse, updateWarehouse, deleteWarehouse } = settings;
  return [
    ...routesOf("clients", { list: lists.listClients, writes: [createClient, updateClient, deleteClient] }),
    ...routesOf("suppliers", {
      list: lists.listSuppliers,
      writes: [createSupplier, updateSupplier, deleteSupplier],
    }),
    ...routesOf("business_case_statuses", { writes: [createStatus, updateStatus, deleteStatus] }),
    ...routesOf("business_cases", {
      list: lists.listCases,
      method: "PATCH",
      writes: [createCase, updateCase, deleteCase],
    }),
    ...routesOf("contact_activity_logs", {
      list: lists.listLogs,
      method: "PATCH",
      writes: [createLog, updateLog, deleteLog],
    }),
    ...routesOf("bank_accounts", {
      method: "PATCH",
      idempotent: false,
      writes: [createAccount, updateAccount, deleteAccount],
    }),
    ...routesOf("warehouses", {
      idempotent: false,
      writes: [createWarehouse, updateWarehouse, deleteWarehouse],
    }),
    ...routesOf("warehouse_inbound_receipts", { list: lists.listInbound, writes: receiptWrites("inbound") }),
    ...routesOf("warehouse_outbound_receipts", {
      list: lists.listOutbound,
      writes: receiptWrites("outbound"),
    }),
    ...routesOf("price_list_items", { list: lists.listItems, writes: [createItem, updateItem, deleteItem] }),
    ...documentKinds.flatMap((kind) =>
      routesOf(documentTable[kind] as "invoices", { list: documentList(kind), writes: documentWrites(kind) }),
    ),
    ...routesOf("document_payments", {
      list: lists.listPayments,
      writes: [createPayment, null, deletePayment],
    }),
    ...routesOf("webhook_subscriptions", {
      createdView: viewWithSecret,
      writes: [createSubscription, updateSubscription, deleteSubscription],
    }),
  ];
}

function receiptWrites(side: Side): RecordRules<Receipt>["writes"] {
  return [
    (company, input) => createReceipt(company, side, input),
    (company, own, input) => updateReceipt(company, side, own, input),
    (company, own) => deleteReceipt(company, side, own),
  ];
}

function documentWrites(kind: DocumentKind): RecordRules<Document>["writes"] {
  return [(company, input) => createDocument(company, kind, input), updateDocument, deleteDocument];
}

function routesOf<K extends TableName>(table: K, rules: RecordRules<RecordOf<K>>): Route[] {
  const view = viewOf(table);
  const { writes, method = "PUT", idempotent, createdView = view } = rules;
  const [create, update, remove] = writes;
  const path = `/${collections[table].path}`;
  const shown = ({ company, language }: Call, own: RecordOf<K>) => record(view(company, own, language));
  const listAll = ({ company, language }: Call) =>
    list([...company.tables[table].values()].map((own) => view(company, own, language)));
  const post = ({ company, input, language }: Call) =>
    record(createdView(company, create(company, input), language), 201);
  const change = (call: Call, by: Update<RecordOf<K>>) =>
    shown(call, by(call.company, recordAt(call, table), call.input));
  return [
    get(path, rules.list ?? listAll),
    get(`${path}/{id}`, (call) => shown(call, recordAt(call, table))),
    write("POST", path, post, idempotent),
    ...(update ? [write(method, `${path}/{id}`, (call) => change(call, update))] : []),
    write("DELETE", `${path}/{id}`, (call) => {
      remove(call.company, recordAt(call, table));
      return nothing();
    }),
  ];
}

/** The record that the path names; throws `Missing` (404) where there is none. */
export function recordAt<K extends keyof Tables>({ company, id }: Call, table: K): RecordOf<K> {
  const own = company.tables[table].get(id);
  if (own === undefined) throw new Missing();
  return own;
}

/** The secret is shown when it is new, and never again. */
export function viewWithSecret(company: Company, subscription: Subscription): JsonObject {
  return { ...subscriptionView(company, subscription), plainTextSecret: subscription.secret };
}
