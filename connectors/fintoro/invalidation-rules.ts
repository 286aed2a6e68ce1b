import type { InvalidationRule } from "../../src/connector/connector-manifest.ts";
import { relatedDocumentColumns } from "./resources/contact-activity-logs.ts";

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

/** What changes with another record although no event tells of it: each costs a read, coalesced. */
export const invalidationRules: readonly InvalidationRule[] = [
  // What is left to pay of an invoice follows its credit notes.
  { resource: "credit_notes", reaches: "invoices", by: { kind: "column", column: "invoice_id" } },
  // The number that the next one will get.
  ...Object.entries(documents).map(([resource, is]): InvalidationRule => {
    return { resource, reaches: "numerical_series", by: { kind: "counting", column: "document_type", is } };
  }),
  // A warehouse holds the counters of its receipts.
  ...Object.keys(receipts).map((resource): InvalidationRule => {
    return { resource, reaches: "warehouses", by: { kind: "column", column: "warehouse_id" } };
  }),
  // CRM events show their document as it is now.
  ...Object.entries({ ...documents, ...receipts }).map(([resource, is]): InvalidationRule => {
    const by = { kind: "pointing", column: kindColumn, is, idColumn } as const;
    return { resource, reaches: "contact_activity_logs", by };
  }),
];
