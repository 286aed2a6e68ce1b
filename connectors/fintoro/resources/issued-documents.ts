import * as t from "../../../src/connector/record-schema.ts";
import { bankAccountReference } from "./company-settings.ts";
import * as of from "./document-fields.ts";
import { currency, paymentMethod } from "./lookups.ts";
import { documentResource, resource, unpaid } from "./resource-builders.ts";

export const invoicePreview = of.preview("invoices", { ...of.dates, deliveryDate: t.date() }, of.payment);

/** These are only in the interface document. */
export const unlistedPaidTypes = t.namesIn("received-invoice received-receipt");
export const paidDocumentTypes = [...t.namesIn("invoice proforma credit-note"), ...unlistedPaidTypes];

export const documentPayment = t.record({
  id: t.integer(),
  documentType: t.doc("Kind of document that was paid", t.oneOf(paidDocumentTypes, unlistedPaidTypes)),
  documentId: t.doc("Id within the table of that kind, which no foreign key can say", t.integer()),
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

const payments = t.owned("document_payments", documentPayment);

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

/** A line that may move stock. */
const { id, total, totalWithVat, ...line } = of.item(false);
const stockedItem = t.record({
  id,
  uuid: t.doc("Keeps the line's stock links when sent back on update", t.text()),
  ...line,
  priceListItemId: t.doc("The price list item the line came from", t.orNull(t.idOf("price_list_items"))),
  total,
  totalWithVat,
});

export const invoice = t.record({
  ...of.documentHead("invoices"),
  bankAccount: t.nested("bank_accounts", bankAccountReference),
  payments,
  variableSymbol: t.integer(),
  ...of.symbols,
  ...of.dates,
  deliveryDate: t.doc("Date of the taxable supply", t.date()),
  ...of.terms(false),
  ...of.settings,
  ...of.content,
  ...of.totals,
  ...of.payment,
  status: t.doc(
    "How far it is paid; will_not_be_paid: given up",
    t.oneOf(of.paymentStatuses, of.paymentStatuses),
  ),
  creditNotesSumTotalWithVat: t.doc("Sum of its credit notes with VAT", t.decimal()),
  items: t.children("invoice_items", stockedItem),
});

const invoices = documentResource("invoices", "Invoices", {
  record: invoice,
  preview: invoicePreview,
  open: unpaid,
});

const deliveryDate = t.doc("Date of the taxable supply", t.orNull(t.date()));

export const creditNotePreview = of.preview("credit_notes", { ...of.dates, deliveryDate }, of.payment);

export const creditNote = t.record({
  ...of.documentHead("credit_notes"),
  bankAccount: t.orNull(t.nested("bank_accounts", bankAccountReference)),
  payments,
  invoiceId: t.doc("The invoice it corrects", t.orNull(t.idOf("invoices"))),
  variableSymbol: t.orNull(t.integer()),
  ...of.symbols,
  ...of.dates,
  deliveryDate,
  ...of.terms(false),
  ...of.someSettings("paymentMethodId", "currencyId", "currencyRate", "languageId"),
  ...of.content,
  alreadyPaid: of.alreadyPaid,
  ...of.totals,
  ...of.payment,
  items: t.children("credit_note_items", stockedItem),
});

const creditNotes = documentResource("credit_notes", "Credit notes", {
  record: creditNote,
  preview: creditNotePreview,
  doc: "Corrections of invoices; their totals are negative",
  open: unpaid,
});

export const proformaPreview = of.preview("proformas", of.dates, of.payment);

export const proforma = t.record({
  ...of.documentHead("proformas"),
  bankAccount: t.nested("bank_accounts", bankAccountReference),
  payments,
  variableSymbol: t.integer(),
  ...of.symbols,
  ...of.dates,
  ...of.terms(false),
  ...of.someSettings("deliveryMethodId", "paymentMethodId", "currencyId", "languageId", "qrTypeId"),
  ...of.content,
  alreadyPaid: of.alreadyPaid,
  ...of.totals,
  toBePaid: of.payment.toBePaid,
  willBePaid: t.doc("Payment is still expected", t.boolean()),
  status: of.payment.status,
  hasVat: of.payment.hasVat,
  items: t.children("proforma_items", t.record(of.item(false))),
});

const proformas = documentResource("proformas", "Proforma invoices", {
  record: proforma,
  preview: proformaPreview,
  open: unpaid,
});

const issueDate = t.date();
const { hasVat } = of.payment;

export const orderPreview = of.preview("orders", { issueDate }, { hasVat });

const plainItem = t.record(of.item(true));

export const order = t.record({
  ...of.documentHead("orders"),
  issueDate,
  ...of.terms(true),
  ...of.someSettings("deliveryMethodId", "paymentMethodId", "currencyId", "languageId"),
  ...of.content,
  ...of.totals,
  hasVat,
  items: t.children("order_items", plainItem),
});

const orders = documentResource("orders", "Orders", { record: order, preview: orderPreview });

const validityDate = t.doc("Until when the offer stands", t.orNull(t.date()));
const status = t.doc("What the client answered", t.oneOf(of.quotationStatuses));

export const quotationPreview = of.preview("quotations", { issueDate, validityDate }, { status, hasVat });

export const quotation = t.record({
  ...of.documentHead("quotations"),
  issueDate,
  validityDate,
  ...of.terms(true),
  ...of.someSettings("currencyId", "languageId"),
  ...of.content,
  ...of.totals,
  status,
  hasVat,
  items: t.children("quotation_items", plainItem),
});

const quotations = documentResource("quotations", "Quotations", {
  record: quotation,
  preview: quotationPreview,
  open: { param: "status", values: ["waiting"], column: "status" },
});

export const documents = [invoices, creditNotes, proformas, orders, quotations];
