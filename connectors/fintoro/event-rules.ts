import type { EventRule, InvalidationRule } from "../../src/connector/connector-manifest.ts";
import { relatedDocumentColumns } from "./resources/contact-activity-logs.ts";

type Action = EventRule["action"];

function rule(type: string, resourceType: string, resource: string | null, action: Action): EventRule {
  return { type, resourceType, resource, action };
}

function changes(type: string, resourceType: string, resource: string): EventRule[] {
  return [
    rule(`${type}.created`, resourceType, resource, "refetch"),
    rule(`${type}.updated`, resourceType, resource, "refetch"),
    rule(`${type}.deleted`, resourceType, resource, "confirm"),
  ];
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
  rule("price-list-items.stock-updated", "priceListItem", "price_list_items", "refetch"),
  ...changes("invoices", "invoice", "invoices"),
  rule("invoices.paid", "invoice", "invoices", "refetch"),
  ...changes("credit-notes", "creditNote", "credit_notes"),
  rule("credit-notes.paid", "creditNote", "credit_notes", "refetch"),
  // Received documents have no route to read: only the event is kept.
  rule("received-invoices.paid", "receivedInvoice", null, "keep"),
  rule("received-receipts.paid", "receivedReceipt", null, "keep"),
  ...changes("proformas", "proforma", "proformas"),
  rule("proformas.paid", "proforma", "proformas", "refetch"),
  ...changes("orders", "order", "orders"),
  ...changes("quotations", "quotation", "quotations"),
  rule("document-payments.created", "documentPayment", "document_payments", "refetch"),
  rule("document-payments.deleted", "documentPayment", "document_payments", "confirm"),
];

const documents = ["invoices", "credit_notes", "proformas", "orders", "quotations"];
const receipts = ["warehouse_inbound_receipts", "warehouse_outbound_receipts"];

/** `credit_notes` -> `credit-note` */
function kindOf(resource: string): string {
  return resource.replace(/s$/, "").replaceAll("_", "-");
}

const [kindColumn, idColumn] = relatedDocumentColumns;

/** Records that change with another one without an event of their own. */
export const invalidationRules: readonly InvalidationRule[] = [
  // A credit note changes what is left to pay of its invoice.
  { resource: "credit_notes", dependent: "invoices", by: { kind: "column", column: "invoice_id" } },
  // A series shows the number that the next document gets.
  ...documents.map((resource): InvalidationRule => {
    const by = { kind: "counting", column: "document_type", is: kindOf(resource) } as const;
    return { resource, dependent: "numerical_series", by };
  }),
  // A warehouse shows the next numbers of its receipts.
  ...receipts.map((resource): InvalidationRule => {
    return { resource, dependent: "warehouses", by: { kind: "column", column: "warehouse_id" } };
  }),
  // CRM events show their document as it is now.
  ...[...documents, ...receipts].map((resource): InvalidationRule => {
    const by = { kind: "pointing", column: kindColumn, is: kindOf(resource), idColumn } as const;
    return { resource, dependent: "contact_activity_logs", by };
  }),
];
