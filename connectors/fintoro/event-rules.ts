import type { EventRule, InvalidationRule } from "../../src/connector/connector-declaration.ts";
import { relatedDocumentColumns } from "./resources/crm.ts";

/** The events of a resource; each of `more` is another one after which its record is read. */
function changes(type: string, resourceType: string, ...more: readonly string[]): EventRule[] {
  const rule = (change: string): EventRule => {
    const action = change === "deleted" ? "confirm" : "refetch";
    return { type: `${type}.${change}`, resourceType, resource: type.replaceAll("-", "_"), action };
  };
  return ["created", "updated", "deleted", ...more].map(rule);
}

/** What each event of the interface document's catalogue makes the mirror read. */
export const events: readonly EventRule[] = [
  ...changes("clients", "client"),
  ...changes("suppliers", "supplier"),
  ...changes("bank-accounts", "bankAccount"),
  ...changes("business-case-statuses", "businessCaseStatus"),
  ...changes("business-cases", "businessCase"),
  ...changes("contact-activity-logs", "contactActivityLog"),
  ...changes("warehouses", "warehouse"),
  ...changes("warehouse-inbound-receipts", "warehouseInboundReceipt"),
  ...changes("warehouse-outbound-receipts", "warehouseOutboundReceipt"),
  ...changes("price-list-items", "priceListItem", "stock-updated"),
  ...changes("invoices", "invoice", "paid"),
  ...changes("credit-notes", "creditNote", "paid"),
  // Received documents have no route to read: only the event is kept.
  { type: "received-invoices.paid", resourceType: "receivedInvoice", resource: null, action: "keep" },
  { type: "received-receipts.paid", resourceType: "receivedReceipt", resource: null, action: "keep" },
  ...changes("proformas", "proforma", "paid"),
  ...changes("orders", "order"),
  ...changes("quotations", "quotation"),
  // A payment is not changed: there is no document-payments.updated.
  ...changes("document-payments", "documentPayment").filter(({ type }) => !type.endsWith(".updated")),
];

const documents = ["invoices", "credit_notes", "proformas", "orders", "quotations"];
const receipts = ["warehouse_inbound_receipts", "warehouse_outbound_receipts"];

const kindOf = (resource: string) => resource.replace(/s$/, "").replaceAll("_", "-");

const [kindColumn, idColumn] = relatedDocumentColumns;

/** What a CRM event shows of its document as it is now, and the document's column with it. */
const shows = {
  metadata_related_document_number: "number",
  metadata_related_document_issue_date: "issue_date",
  metadata_related_document_total_with_vat: "total_with_vat",
};

/** Records that change with another one, mostly without an event of their own. */
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
  // A receipt changes the stock of its items.
  ...receipts.map((resource): InvalidationRule => {
    const by = { kind: "parts", field: "items", key: "priceListItemId" } as const;
    return { resource, dependent: "price_list_items", announced: true, by };
  }),
  // CRM events show their document as it is now.
  ...[...documents, ...receipts].map((resource): InvalidationRule => {
    const by = { kind: "pointing", column: kindColumn, is: kindOf(resource), idColumn, shows } as const;
    return { resource, dependent: "contact_activity_logs", by };
  }),
];
