import * as activities from "../domain/crm/activities.ts";
import * as cases from "../domain/crm/case-board.ts";
import * as catalog from "../domain/warehouse/price-list.ts";
import type { Company, Tables } from "../domain/company-state.ts";
import * as house from "../domain/company-settings.ts";
import * as parties from "../domain/crm/contacts.ts";
import * as receipts from "../domain/warehouse/receipts.ts";
import type { Language } from "../lookups/languages.ts";
import { collections, type TableName } from "../model/catalogue.ts";
import { logView } from "../view/activity-view.ts";
import { accountView, caseView, statusView, warehouseView } from "../view/settings-view.ts";
import type { JsonObject } from "../base/values.ts";
import { clientView, supplierView } from "../view/contact-view.ts";
import { inboundView, itemView, outboundView } from "../view/stock-view.ts";
import { nothing, record } from "../http/answer.ts";
import type { Method, Route } from "./router.ts";
import { named } from "./read-routes.ts";

type RecordOf<K extends keyof Tables> = NonNullable<ReturnType<Tables[K]["get"]>>;

/** How one collection is written: all of them have the same three routes. */
interface Writing<K extends TableName> {
  readonly table: K;
  readonly update: Method;
  readonly idempotent: boolean;
  readonly create: (company: Company, input: unknown) => RecordOf<K>;
  readonly change: (company: Company, own: RecordOf<K>, input: unknown) => RecordOf<K>;
  readonly remove: (company: Company, own: RecordOf<K>) => void;
  readonly view: (company: Company, own: RecordOf<K>, language: Language) => JsonObject;
}

function routesOf<K extends TableName>(writing: Writing<K>): Route[] {
  const { table, update, idempotent, create, change, remove, view } = writing;
  const path = `/${collections[table].path}`;
  const own = `${path}/{id}`;
  return [
    {
      method: "POST",
      path,
      scope: "write",
      idempotent,
      handle: ({ company, language, input }) => record(view(company, create(company, input), language), 201),
    },
    {
      method: update,
      path: own,
      scope: "write",
      handle: (call) =>
        record(view(call.company, change(call.company, named(call, table), call.input), call.language)),
    },
    {
      method: "DELETE",
      path: own,
      scope: "write",
      handle: (call) => {
        remove(call.company, named(call, table));
        return nothing();
      },
    },
  ];
}

/** Creating, changing and deleting everything but documents, payments and subscriptions. */
export function writingRoutes(): Route[] {
  return [...partyRoutes(), ...crmRoutes(), ...houseRoutes(), ...stockRoutes()];
}

function partyRoutes(): Route[] {
  return [
    ...routesOf({
      table: "clients",
      update: "PUT",
      idempotent: true,
      create: parties.createClient,
      change: parties.updateClient,
      remove: parties.deleteClient,
      view: (_, client, language) => clientView(client, language),
    }),
    ...routesOf({
      table: "suppliers",
      update: "PUT",
      idempotent: true,
      create: parties.createSupplier,
      change: parties.updateSupplier,
      remove: parties.deleteSupplier,
      view: (_, supplier, language) => supplierView(supplier, language),
    }),
  ];
}

function crmRoutes(): Route[] {
  return [
    ...routesOf({
      table: "business_case_statuses",
      update: "PUT",
      idempotent: true,
      create: cases.createStatus,
      change: cases.updateStatus,
      remove: cases.deleteStatus,
      view: (_, status) => statusView(status),
    }),
    ...routesOf({
      table: "business_cases",
      update: "PATCH",
      idempotent: true,
      create: cases.createCase,
      change: cases.updateCase,
      remove: cases.deleteCase,
      view: caseView,
    }),
    ...routesOf({
      table: "contact_activity_logs",
      update: "PATCH",
      idempotent: true,
      create: activities.createLog,
      change: activities.updateLog,
      remove: activities.deleteLog,
      view: logView,
    }),
  ];
}

function houseRoutes(): Route[] {
  return [
    ...routesOf({
      table: "bank_accounts",
      update: "PATCH",
      idempotent: false,
      create: house.createAccount,
      change: house.updateAccount,
      remove: house.deleteAccount,
      view: (_, account, language) => accountView(account, language),
    }),
    ...routesOf({
      table: "warehouses",
      update: "PUT",
      idempotent: false,
      create: house.createWarehouse,
      change: house.updateWarehouse,
      remove: house.deleteWarehouse,
      view: (_, warehouse) => warehouseView(warehouse),
    }),
  ];
}

function stockRoutes(): Route[] {
  const sides = [
    ["warehouse_inbound_receipts", "inbound", inboundView],
    ["warehouse_outbound_receipts", "outbound", outboundView],
  ] as const;
  return [
    ...sides.flatMap(([table, side, view]) =>
      routesOf({
        table,
        update: "PUT",
        idempotent: true,
        create: (company, input) => receipts.createReceipt(company, side, input),
        change: (company, own, input) => receipts.updateReceipt(company, side, own, input),
        remove: (company, own) => receipts.deleteReceipt(company, side, own),
        view,
      }),
    ),
    ...routesOf({
      table: "price_list_items",
      update: "PUT",
      idempotent: true,
      create: catalog.createItem,
      change: catalog.updateItem,
      remove: catalog.deleteItem,
      view: itemView,
    }),
  ];
}
