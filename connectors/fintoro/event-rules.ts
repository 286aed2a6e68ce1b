import type { EventRule } from "../../src/connector/connector-manifest.ts";

/** What each event of the interface document's catalogue asks of the mirror. */
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
  // Received documents have no route to read: the event itself is all there is.
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
