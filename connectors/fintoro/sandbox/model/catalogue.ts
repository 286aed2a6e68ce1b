import type { LookupName } from "../lookups/lookup-lists.ts";
import type { Document, DocumentKind } from "./records.ts";
import eventResources from "./event-resources.json" with { type: "json" };

/** The names of the collections, which are those of the tables of a mirror. */
export type TableName = keyof typeof eventResources;
/** All tables but the number series, which have no events. */
export const tableNames = Object.keys(eventResources) as readonly TableName[];

/** Each collection's path, which is also the prefix of its event types, and `resource.type` of its events. */
export const collections = Object.fromEntries(
  tableNames.map((name) => [name, { path: name.replaceAll("_", "-"), type: eventResources[name] }]),
) as Readonly<Record<TableName, { readonly path: string; readonly type: string }>>;

/** Fields of requests that name a record of the company, and its table. */
const references: Readonly<Record<string, TableName | "numerical_series">> = {
  clientId: "clients",
  supplierId: "suppliers",
  statusId: "business_case_statuses",
  businessCaseId: "business_cases",
  bankAccountId: "bank_accounts",
  warehouseId: "warehouses",
  priceListItemId: "price_list_items",
  invoiceId: "invoices",
  proformaId: "proformas",
  orderId: "orders",
  quotationId: "quotations",
  numericalSeriesId: "numerical_series",
};

/** What ids of these names choose from: `countryId`, `preferredCurrencyId`. */
const lookupsByName: Readonly<Record<string, LookupName>> = {
  bank: "banks",
  country: "countries",
  currency: "currencies",
  deliveryMethod: "delivery-methods",
  language: "languages",
  paymentMethod: "payment-methods",
  qrType: "qr-types",
  unit: "units",
};

/** The table or the lookup that a field of a request names a record of. */
export function referenceOf(field: string) {
  const name = field.replace(/^preferred|^delivery(?=Country)|Id$/g, "");
  const lookup = field.endsWith("Id")
    ? lookupsByName[name.charAt(0).toLowerCase() + name.slice(1)]
    : undefined;
  return { table: references[field], lookup };
}

/** The tables that hold documents. */
export type DocumentTable = "invoices" | "credit_notes" | "proformas" | "orders" | "quotations";

/** How a kind of document differs from the others. Rules, views and lists read it here. */
interface KindFacts {
  readonly table: DocumentTable;
  /** It has payments, and with them a status, a bank account and symbols. */
  readonly payable?: true;
  /** Its lines show ids that last and a price-list item. */
  readonly keepsLines?: true;
  /** Fields of an answer that not all kinds have. */
  readonly shown: readonly (keyof Omit<Document, "company" | "client" | "items">)[];
}

const methods = ["deliveryMethodId", "paymentMethodId"] as const;

/** The kinds of documents and what each of them has. */
export const kindFacts: Readonly<Record<DocumentKind, KindFacts>> = {
  invoice: {
    table: "invoices",
    payable: true,
    keepsLines: true,
    shown: ["dueDate", "deliveryDate", ...methods, "currencyRate", "qrTypeId"],
  },
  "credit-note": {
    table: "credit_notes",
    payable: true,
    keepsLines: true,
    shown: ["invoiceId", "dueDate", "deliveryDate", "paymentMethodId", "currencyRate"],
  },
  proforma: {
    table: "proformas",
    payable: true,
    shown: ["dueDate", ...methods, "qrTypeId", "willBePaid"],
  },
  order: { table: "orders", shown: methods },
  quotation: { table: "quotations", shown: ["validityDate"] },
};

export const documentKinds = Object.keys(kindFacts) as readonly DocumentKind[];
/** Kinds that can be paid. */
export const payableKinds = documentKinds.filter((kind) => kindFacts[kind].payable);

const otherEvents =
  "document-payments.created document-payments.deleted price-list-items.stock-updated invoices.paid credit-notes.paid proformas.paid received-invoices.paid received-receipts.paid";

/** All event types that a subscription may name. */
export const eventTypes: readonly string[] = [
  ...tableNames
    .filter((table) => table !== "document_payments" && table !== "webhook_subscriptions")
    .flatMap((table) =>
      ["created", "updated", "deleted"].map((change) => `${collections[table].path}.${change}`),
    ),
  ...otherEvents.split(" "),
];

/** What a CRM event can belong to: its kind, the field of requests and answers that names it, and its table. */
export const activityTargets = [
  { kind: "businessCase", field: "businessCaseId", table: "business_cases" },
  { kind: "client", field: "clientId", table: "clients" },
  { kind: "supplier", field: "supplierId", table: "suppliers" },
] as const;
export const targetFields = activityTargets.map(({ field }) => field);
