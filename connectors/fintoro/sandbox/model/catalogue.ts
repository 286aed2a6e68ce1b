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
export const references: Readonly<Record<string, TableName | "numerical_series">> = {
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

/** The tables that hold documents. */
export type DocumentTable = "invoices" | "credit_notes" | "proformas" | "orders" | "quotations";

/** How a kind of document differs from the others. Rules, views and lists read it here. */
interface KindFacts {
  readonly table: DocumentTable;
  /** It has payments, and with them a status, a bank account and symbols. */
  readonly payable?: true;
  /** Its lines have ids that last, a price-list item, and receipts of a warehouse. */
  readonly movesStock?: true;
  /** The kinds it can be made from. */
  readonly sources: readonly ("proforma" | "order" | "quotation")[];
  /** Fields of an answer that not all kinds have. */
  readonly shown: readonly (keyof Omit<Document, "company" | "client" | "items">)[];
  /** What `sortBy` may name, besides number and issue date. */
  readonly sorts: readonly string[];
}

const methods = ["deliveryMethodId", "paymentMethodId"] as const;
const sums = ["total", "totalWithVat"];

/** The kinds of documents and what each of them has. */
export const kindFacts: Readonly<Record<DocumentKind, KindFacts>> = {
  invoice: {
    table: "invoices",
    payable: true,
    movesStock: true,
    sources: ["proforma", "order", "quotation"],
    shown: ["dueDate", "deliveryDate", ...methods, "currencyRate", "qrTypeId"],
    sorts: ["dueDate", "deliveryDate", "totalWithVatEur"],
  },
  "credit-note": {
    table: "credit_notes",
    payable: true,
    movesStock: true,
    sources: [],
    shown: ["invoiceId", "dueDate", "deliveryDate", "paymentMethodId", "currencyRate"],
    sorts: ["dueDate", ...sums],
  },
  proforma: {
    table: "proformas",
    payable: true,
    sources: ["order", "quotation"],
    shown: ["dueDate", ...methods, "qrTypeId", "willBePaid"],
    sorts: ["dueDate", ...sums],
  },
  order: { table: "orders", sources: ["quotation"], shown: methods, sorts: sums },
  quotation: { table: "quotations", sources: [], shown: ["validityDate"], sorts: ["validityDate", ...sums] },
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
