import * as t from "../../../../src/connector/record-schema.ts";
import { invoicePreview } from "./invoice-preview.ts";
import { currency, paymentMethod } from "../lookups.ts";
import { resource } from "../resource-builders.ts";

/** The last two are only in the interface document. */
export const paidDocumentTypes = [
  "invoice",
  "proforma",
  "credit-note",
  "received-invoice",
  "received-receipt",
] as const;
export const unlistedPaidTypes = ["received-invoice", "received-receipt"] as const;

export const documentPayment = t.record({
  id: t.integer(),
  documentType: t.doc("Kind of document that was paid", t.oneOf(paidDocumentTypes, unlistedPaidTypes)),
  documentId: t.doc("Id within the table of that kind", t.integer()),
  paymentMethod: t.nested("payment_methods", paymentMethod),
  currency: t.nested("currencies", currency),
  paymentDate: t.date(),
  amount: t.doc("In the payment's currency", t.decimal()),
  currencyRate: t.doc("Units of the currency per euro; 1 for EUR", t.decimal()),
  receiptInvoice: t.doc(
    "The invoice that receipts this payment",
    t.orNull(t.nested("invoices", invoicePreview)),
  ),
});

export const documentPayments = resource("document_payments", "Document payments", {
  record: documentPayment,
  list: {
    kind: "owned",
    by: [
      { resource: "invoices", type: "invoice", typeField: "documentType", idField: "documentId" },
      { resource: "credit_notes", type: "credit-note", typeField: "documentType", idField: "documentId" },
      { resource: "proformas", type: "proforma", typeField: "documentType", idField: "documentId" },
    ],
  },
  doc: "Payments of invoices, credit notes and proformas; they come with their document's detail",
});
