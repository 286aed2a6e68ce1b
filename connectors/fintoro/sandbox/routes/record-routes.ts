import type { JsonObject } from "../base/values.ts";
import type { Company, Tables } from "../domain/company-state.ts";
import * as settings from "../domain/company-settings.ts";
import * as activities from "../domain/crm/activities.ts";
import * as cases from "../domain/crm/case-board.ts";
import * as contacts from "../domain/crm/contacts.ts";
import * as creditNotes from "../domain/documents/credit-note-rules.ts";
import { isFlow } from "../domain/documents/document-input.ts";
import * as documents from "../domain/documents/document-rules.ts";
import * as payments from "../domain/documents/payment-rules.ts";
import * as priceList from "../domain/warehouse/price-list.ts";
import * as receipts from "../domain/warehouse/receipts.ts";
import * as webhooks from "../domain/webhook-targets.ts";
import { list, nothing, record, type Answer } from "../http/answer.ts";
import { collections, documentKinds, documentTable, type TableName } from "../model/catalogue.ts";
import type { DocumentKind, Subscription } from "../model/company-records.ts";
import { Missing } from "../rules/refusals.ts";
import { subscriptionView } from "../view/settings-view.ts";
import { documentList } from "./document-list.ts";
import {
  listCases,
  listClients,
  listInbound,
  listItems,
  listOutbound,
  listSuppliers,
} from "./record-lists.ts";
import { listLogs, listPayments } from "./query-lists.ts";
import { tableOf, viewOf, type RecordOf, type View } from "./record-views.ts";
import { get, write, type Call, type Method, type Route } from "./router.ts";

/** How the records of one table are listed and written. */
interface RecordRules<K extends keyof Tables> {
  /** All records in one answer where it is absent. */
  readonly list?: (call: Call) => Answer;
  readonly create: (company: Company, input: unknown) => RecordOf<K>;
  /** Does POST take an `Idempotency-Key`? It does where this is absent. */
  readonly idempotent?: boolean;
  /** What the answer to POST shows; as the detail where it is absent. */
  readonly createdView?: View<RecordOf<K>>;
  /** PUT where it is absent. */
  readonly updateMethod?: Method;
  /** Absent for records that do not change. */
  readonly update?: (company: Company, own: RecordOf<K>, input: unknown) => RecordOf<K>;
  readonly remove: (company: Company, own: RecordOf<K>) => void;
}

/** The routes of every table: list, detail, create, update, delete. */
export function recordRoutes(): Route[] {
  return [
    ...routesOf("clients", {
      list: listClients,
      create: contacts.createClient,
      update: contacts.updateClient,
      remove: contacts.deleteClient,
    }),
    ...routesOf("suppliers", {
      list: listSuppliers,
      create: contacts.createSupplier,
      update: contacts.updateSupplier,
      remove: contacts.deleteSupplier,
    }),
    ...routesOf("business_case_statuses", {
      create: cases.createStatus,
      update: cases.updateStatus,
      remove: cases.deleteStatus,
    }),
    ...routesOf("business_cases", {
      list: listCases,
      create: cases.createCase,
      updateMethod: "PATCH",
      update: cases.updateCase,
      remove: cases.deleteCase,
    }),
    ...routesOf("contact_activity_logs", {
      list: listLogs,
      create: activities.createLog,
      updateMethod: "PATCH",
      update: activities.updateLog,
      remove: activities.deleteLog,
    }),
    ...routesOf("bank_accounts", {
      create: settings.createAccount,
      idempotent: false,
      updateMethod: "PATCH",
      update: settings.updateAccount,
      remove: settings.deleteAccount,
    }),
    ...routesOf("warehouses", {
      create: settings.createWarehouse,
      idempotent: false,
      update: settings.updateWarehouse,
      remove: settings.deleteWarehouse,
    }),
    ...routesOf("warehouse_inbound_receipts", { list: listInbound, ...receiptRules("inbound") }),
    ...routesOf("warehouse_outbound_receipts", { list: listOutbound, ...receiptRules("outbound") }),
    ...routesOf("price_list_items", {
      list: listItems,
      create: priceList.createItem,
      update: priceList.updateItem,
      remove: priceList.deleteItem,
    }),
    ...documentKinds.flatMap((kind) =>
      routesOf(documentTable[kind] as "invoices", { list: documentList(kind), ...documentRules(kind) }),
    ),
    ...routesOf("document_payments", {
      list: listPayments,
      create: payments.createPayment,
      remove: payments.deletePayment,
    }),
    ...routesOf("webhook_subscriptions", {
      create: webhooks.createSubscription,
      createdView: viewWithSecret,
      update: webhooks.updateSubscription,
      remove: webhooks.deleteSubscription,
    }),
  ];
}

function receiptRules(side: receipts.Side): RecordRules<"warehouse_inbound_receipts"> {
  return {
    create: (company, input) => receipts.createReceipt(company, side, input),
    update: (company, own, input) => receipts.updateReceipt(company, side, own, input),
    remove: (company, own) => receipts.deleteReceipt(company, side, own),
  };
}

function documentRules(kind: DocumentKind): RecordRules<"invoices"> {
  const { deleteDocument: remove } = documents;
  if (!isFlow(kind))
    return { create: creditNotes.createCreditNote, update: creditNotes.updateCreditNote, remove };
  return {
    create: (company, input) => documents.createDocument(company, kind, input),
    update: (company, own, input) => documents.updateDocument(company, own, kind, input),
    remove,
  };
}

function routesOf<K extends TableName>(table: K, rules: RecordRules<K>): Route[] {
  const { create, idempotent, update, updateMethod = "PUT", remove } = rules;
  const view = viewOf(table);
  const { createdView = view } = rules;
  const path = `/${collections[table].path}`;
  const shown = ({ company, language }: Call, own: RecordOf<K>) => record(view(company, own, language));
  const listAll = ({ company, language }: Call) =>
    list([...tableOf(company, table).values()].map((own) => view(company, own, language)));
  return [
    get(path, rules.list ?? listAll),
    get(`${path}/{id}`, (call) => shown(call, recordAt(call, table))),
    write(
      "POST",
      path,
      ({ company, language, input }) => record(createdView(company, create(company, input), language), 201),
      idempotent,
    ),
    ...(update
      ? [
          write(updateMethod, `${path}/{id}`, (call) =>
            shown(call, update(call.company, recordAt(call, table), call.input)),
          ),
        ]
      : []),
    write("DELETE", `${path}/{id}`, (call) => {
      remove(call.company, recordAt(call, table));
      return nothing();
    }),
  ];
}

/** The record that the path names; throws `Missing` (404) where there is none. */
export function recordAt<K extends keyof Tables>({ company, id }: Call, table: K): RecordOf<K> {
  const own = tableOf(company, table).get(id);
  if (own === undefined) throw new Missing();
  return own;
}

/** The secret is shown when it is new, and never again. */
export function viewWithSecret(company: Company, subscription: Subscription): JsonObject {
  return { ...subscriptionView(company, subscription), plainTextSecret: subscription.secret };
}
