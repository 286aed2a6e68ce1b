import type { Document, DocumentKind } from "./company-records.ts";

/** A collection of the service: its name here, and its path, which is also the prefix of its event types. */
export interface Collection {
  readonly table: string;
  readonly path: string;
  /** `resource.type` of its events. */
  readonly type: string;
}

const rows = [
  ["clients", "clients", "client"],
  ["suppliers", "suppliers", "supplier"],
  ["bank_accounts", "bank-accounts", "bankAccount"],
  ["business_case_statuses", "business-case-statuses", "businessCaseStatus"],
  ["business_cases", "business-cases", "businessCase"],
  ["contact_activity_logs", "contact-activity-logs", "contactActivityLog"],
  ["warehouses", "warehouses", "warehouse"],
  ["warehouse_inbound_receipts", "warehouse-inbound-receipts", "warehouseInboundReceipt"],
  ["warehouse_outbound_receipts", "warehouse-outbound-receipts", "warehouseOutboundReceipt"],
  ["price_list_items", "price-list-items", "priceListItem"],
  ["invoices", "invoices", "invoice"],
  ["credit_notes", "credit-notes", "creditNote"],
  ["proformas", "proformas", "proforma"],
  ["orders", "orders", "order"],
  ["quotations", "quotations", "quotation"],
  ["document_payments", "document-payments", "documentPayment"],
  ["webhook_subscriptions", "webhook-subscriptions", "webhookSubscription"],
] as const;

/** The collections by the names that tables of them have. */
export type TableName = (typeof rows)[number][0];

/** Each collection by its table. */
export const collections: Readonly<Record<TableName, Collection>> = Object.fromEntries(
  rows.map(([table, path, type]) => [table, { table, path, type }]),
) as Record<TableName, Collection>;

/** All tables but the number series, which have no events. */
export const tableNames: readonly TableName[] = rows.map(([table]) => table);

/** How a kind of document differs from the others. Rules, views and lists read it here. */
interface KindFacts {
  readonly table: TableName;
  readonly label: string;
  /** In the address of its web page. */
  readonly webPath: string;
  /** It has payments, and with them a status, a bank account and symbols. */
  readonly payable: boolean;
  /** Its lines have ids that last, a price-list item, and receipts of a warehouse. */
  readonly movesStock: boolean;
  /** The kinds it can be made from. */
  readonly sources: readonly ("proforma" | "order" | "quotation")[];
  /** Fields of an answer that not all kinds have. */
  readonly shown: readonly (keyof Omit<Document, "company" | "client" | "sources" | "items">)[];
}

const dates = ["dueDate", "deliveryDate"] as const;
const methods = ["deliveryMethodId", "paymentMethodId"] as const;

/** The kinds of documents and what each of them has. */
export const kindFacts: Readonly<Record<DocumentKind, KindFacts>> = {
  invoice: {
    table: "invoices",
    label: "Invoice",
    webPath: "fa",
    payable: true,
    movesStock: true,
    sources: ["proforma", "order", "quotation"],
    shown: [...dates, ...methods, "currencyRate", "qrTypeId"],
  },
  "credit-note": {
    table: "credit_notes",
    label: "Credit note",
    webPath: "credit-note",
    payable: true,
    movesStock: true,
    sources: [],
    shown: ["invoiceId", ...dates, "paymentMethodId", "currencyRate"],
  },
  proforma: {
    table: "proformas",
    label: "Proforma",
    webPath: "proforma",
    payable: true,
    movesStock: false,
    sources: ["order", "quotation"],
    shown: ["dueDate", ...methods, "qrTypeId", "willBePaid"],
  },
  order: {
    table: "orders",
    label: "Order",
    webPath: "obj",
    payable: false,
    movesStock: false,
    sources: ["quotation"],
    shown: methods,
  },
  quotation: {
    table: "quotations",
    label: "Quotation",
    webPath: "cp",
    payable: false,
    movesStock: false,
    sources: [],
    shown: ["validityDate"],
  },
};

export const documentKinds = Object.keys(kindFacts) as readonly DocumentKind[];

/** The table of each kind. */
export const documentTable = Object.fromEntries(
  documentKinds.map((kind) => [kind, kindFacts[kind].table]),
) as Readonly<Record<DocumentKind, TableName>>;

/** Kinds that can be paid. */
export const payableKinds: readonly DocumentKind[] = ["invoice", "proforma", "credit-note"];

const changes = ["created", "updated", "deleted"];

/** All event types that a subscription may name. */
export const eventTypes: readonly string[] = [
  ...rows
    .filter(([table]) => table !== "document_payments" && table !== "webhook_subscriptions")
    .flatMap(([, path]) => changes.map((change) => `${path}.${change}`)),
  "document-payments.created",
  "document-payments.deleted",
  "price-list-items.stock-updated",
  "invoices.paid",
  "credit-notes.paid",
  "proformas.paid",
  "received-invoices.paid",
  "received-receipts.paid",
];
