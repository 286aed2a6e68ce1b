import type { EventRule, InvalidationRule } from "../../src/connector/connector-manifest.ts";
import { relatedDocumentColumns } from "./resources/contact-activity-logs.ts";

function changes(type: string, resourceType: string, resource: string): EventRule[] {
  return [
    { type: `${type}.created`, resourceType, resource, action: "refetch" },
    { type: `${type}.updated`, resourceType, resource, action: "refetch" },
    { type: `${type}.deleted`, resourceType, resource, action: "confirm" },
  ];
}

function paid(type: string, resourceType: string, resource: string | null): EventRule {
  return { type: `${type}.paid`, resourceType, resource, action: resource ? "refetch" : "keep" };
}

/** What each event of the interface document's catalogue makes the mirror read. */
export const events: readonly EventRule[] = [
  ...changes("clients", "client", "clients"),
  ...changes("suppliers", "supplier", "suppliers"),
  ...changes("bank-accounts", "bankAccount", "bank_accounts"),
  ...changes("business-case-statuses", "businessCaseStatus", "business_case_statuses"),
  ...changes("business-cases", "businessCase", "business_cases"),
  ...changes("contact-activity-logs", "contactActivityLog", "contact_activity_logs"),
  ...changes("warehouses", "warehouse", "warehouses"),
  ...changes("warehouse-inbound-receipts", "warehouseInboundReceipt", "warehouse_inbound_receipts"),
  ...changes("warehouse-outbound-receipts", "warehouseOutboundReceipt", "warehouse_outbound_receipts"),
  ...changes("price-list-items", "priceListItem", "price_list_items"),
  {
    type: "price-list-items.stock-updated",
    resourceType: "priceListItem",
    resource: "price_list_items",
    action: "refetch",
  },
  ...changes("invoices", "invoice", "invoices"),
  paid("invoices", "invoice", "invoices"),
  ...changes("credit-notes", "creditNote", "credit_notes"),
  paid("credit-notes", "creditNote", "credit_notes"),
  // Received documents have no route to read: only the event is kept.
  paid("received-invoices", "receivedInvoice", null),
  paid("received-receipts", "receivedReceipt", null),
  ...changes("proformas", "proforma", "proformas"),
  paid("proformas", "proforma", "proformas"),
  ...changes("orders", "order", "orders"),
  ...changes("quotations", "quotation", "quotations"),
  {
    type: "document-payments.created",
    resourceType: "documentPayment",
    resource: "document_payments",
    action: "refetch",
  },
  {
    type: "document-payments.deleted",
    resourceType: "documentPayment",
    resource: "document_payments",
    action: "confirm",
  },
];

const documents: Readonly<Record<string, string>> = {
  invoices: "invoice",
  credit_notes: "credit-note",
  proformas: "proforma",
  orders: "order",
  quotations: "quotation",
};
const receipts: Readonly<Record<string, string>> = {
  warehouse_inbound_receipts: "warehouse-inbound-receipt",
  warehouse_outbound_receipts: "warehouse-outbound-receipt",
};

const [kindColumn, idColumn] = relatedDocumentColumns;

/** Records that change with another one without an event of their own. */
export const invalidationRules: readonly InvalidationRule[] = [
  // A credit note changes what is left to pay of its invoice.
  { resource: "credit_notes", dependent: "invoices", by: { kind: "column", column: "invoice_id" } },
  // A series shows the number that the next document gets.
  ...Object.entries(documents).map(([resource, is]): InvalidationRule => {
    return { resource, dependent: "numerical_series", by: { kind: "counting", column: "document_type", is } };
  }),
  // A warehouse shows the next numbers of its receipts.
  ...Object.keys(receipts).map((resource): InvalidationRule => {
    return { resource, dependent: "warehouses", by: { kind: "column", column: "warehouse_id" } };
  }),
  // CRM events show their document as it is now.
  ...Object.entries({ ...documents, ...receipts }).map(([resource, is]): InvalidationRule => {
    const by = { kind: "pointing", column: kindColumn, is, idColumn } as const;
    return { resource, dependent: "contact_activity_logs", by };
  }),
];
