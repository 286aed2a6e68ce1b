import type { JsonObject } from "../base/values.ts";
import type { Company, RecordOf, Tables } from "../domain/company-state.ts";
import {
  accountWrites,
  priceListWrites,
  subscriptionWrites,
  warehouseWrites,
} from "../domain/settings-writes.ts";
import { activityWrites } from "../domain/crm/activities.ts";
import { caseWrites, statusWrites } from "../domain/crm/case-board.ts";
import { clientWrites, supplierWrites } from "../domain/crm/contact-rules.ts";
import { documentWrites } from "../domain/documents/writes.ts";
import { paymentWrites } from "../domain/documents/payment-rules.ts";
import type { Writes } from "../domain/record-writes.ts";
import { receiptWrites } from "../domain/warehouse/receipts.ts";
import { list, nothing, oneRecord, type Answer } from "../http/service-answer.ts";
import { collections, documentKinds, documentTable, type TableName } from "../model/catalogue.ts";
import type { Subscription } from "../model/company-records.ts";
import { Missing } from "../rules/problems.ts";
import { subscriptionView } from "../view/settings-view.ts";
import { documentList } from "./document-list.ts";
import * as lists from "./record-lists.ts";
import { detailViewOf, type View } from "./record-views.ts";
import { change, get, type Call, type Method, type Route } from "./router.ts";

/** How the records of one table are read and written. */
interface RecordRules<T> {
  readonly writes: Writes<T>;
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
  return [
    ...routesOf("clients", { list: lists.listClients, writes: clientWrites }),
    ...routesOf("suppliers", { list: lists.listSuppliers, writes: supplierWrites }),
    ...routesOf("business_case_statuses", { writes: statusWrites }),
    ...routesOf("business_cases", { list: lists.listCases, method: "PATCH", writes: caseWrites }),
    ...routesOf("contact_activity_logs", { list: lists.listLogs, method: "PATCH", writes: activityWrites }),
    ...routesOf("bank_accounts", { method: "PATCH", idempotent: false, writes: accountWrites }),
    ...routesOf("warehouses", { idempotent: false, writes: warehouseWrites }),
    ...routesOf("warehouse_inbound_receipts", { list: lists.listInbound, writes: receiptWrites("inbound") }),
    ...routesOf("warehouse_outbound_receipts", {
      list: lists.listOutbound,
      writes: receiptWrites("outbound"),
    }),
    ...routesOf("price_list_items", { list: lists.listItems, writes: priceListWrites }),
    ...documentKinds.flatMap((kind) =>
      routesOf(documentTable[kind], { list: documentList(kind), writes: documentWrites(kind) }),
    ),
    ...routesOf("document_payments", { list: lists.listPayments, writes: paymentWrites }),
    ...routesOf("webhook_subscriptions", { createdView: viewWithSecret, writes: subscriptionWrites }),
  ];
}

function routesOf<K extends TableName>(table: K, rules: RecordRules<RecordOf<K>>): Route[] {
  const view = detailViewOf(table);
  const { writes, method = "PUT", idempotent, createdView = view } = rules;
  const { create, update, remove } = writes;
  const path = `/${collections[table].path}`;
  const shown = ({ company, language }: Call, own: RecordOf<K>) => oneRecord(view(company, own, language));
  const listAll = ({ company, language }: Call) =>
    list([...company.tables[table].values()].map((own) => view(company, own, language)));
  const post = ({ company, input, language }: Call) =>
    oneRecord(createdView(company, create(company, input), language), 201);
  const put = (by: NonNullable<typeof update>) => (call: Call) =>
    shown(call, by(call.company, recordAt(call, table), call.input));
  return [
    get(path, rules.list ?? listAll),
    get(`${path}/{id}`, (call) => shown(call, recordAt(call, table))),
    change("POST", path, post, idempotent),
    ...(update ? [change(method, `${path}/{id}`, put(update))] : []),
    change("DELETE", `${path}/{id}`, (call) => {
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
