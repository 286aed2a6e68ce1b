import type { DocumentKind } from "./company-records.ts";

/** Every collection, by the table it becomes elsewhere: its path, its events' prefix and type. */
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

export type TableName = (typeof rows)[number][0];

export const collections: Readonly<Record<TableName, Collection>> = Object.fromEntries(
  rows.map(([table, path, type]) => [table, { table, path, type }]),
) as Record<TableName, Collection>;

export const tableNames: readonly TableName[] = rows.map(([table]) => table);

export const documentTable: Readonly<Record<DocumentKind, TableName>> = {
  invoice: "invoices",
  "credit-note": "credit_notes",
  proforma: "proformas",
  order: "orders",
  quotation: "quotations",
};

export const documentKinds: readonly DocumentKind[] = [
  "invoice",
  "credit-note",
  "proforma",
  "order",
  "quotation",
];

/** Who can be paid. */
export const payableKinds: readonly DocumentKind[] = ["invoice", "proforma", "credit-note"];

const changes = ["created", "updated", "deleted"];

/** All names a subscription may ask for. */
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
