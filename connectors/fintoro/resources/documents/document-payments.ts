import { defineResource } from "../../../../src/connector/define.ts";
import {
  date,
  decimal,
  doc,
  integer,
  nested,
  oneOf,
  orNull,
  record,
} from "../../../../src/connector/record-schema.ts";
import { invoicePreview } from "./invoice-preview.ts";
import { currency, paymentMethod } from "../lookups.ts";

/** The last two are the interface document's alone. */
export const paidDocumentTypes = [
  "invoice",
  "proforma",
  "credit-note",
  "received-invoice",
  "received-receipt",
] as const;
export const unlistedPaidTypes = ["received-invoice", "received-receipt"] as const;

export const documentPayment = record({
  id: integer(),
  documentType: doc("Kind of document that was paid", oneOf(paidDocumentTypes, unlistedPaidTypes)),
  documentId: doc("Id within the table of that kind", integer()),
  paymentMethod: nested("payment_methods", paymentMethod),
  currency: nested("currencies", currency),
  paymentDate: date(),
  amount: doc("In the payment's currency", decimal()),
  currencyRate: doc("Units of the currency per euro; 1 for EUR", decimal()),
  receiptInvoice: doc("The invoice that receipts this payment", orNull(nested("invoices", invoicePreview))),
});

export const documentPayments = defineResource({
  name: "document_payments",
  singular: "document_payment",
  title: "Document payments",
  origin: "published",
  record: documentPayment,
  list: {
    kind: "owned",
    by: [
      { resource: "invoices", type: "invoice", typeField: "documentType", idField: "documentId" },
      { resource: "credit_notes", type: "credit-note", typeField: "documentType", idField: "documentId" },
      { resource: "proformas", type: "proforma", typeField: "documentType", idField: "documentId" },
    ],
  },
  detail: "/document-payments/{id}",
  doc: "Payments of invoices, credit notes and proformas; they come with their document's detail",
});
