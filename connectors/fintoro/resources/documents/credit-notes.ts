import * as t from "../../../../src/connector/record-schema.ts";
import { bankAccountReference } from "../bank-accounts.ts";
import { documentResource, unpaid } from "../resource-builders.ts";
import * as of from "./document-fields.ts";
import { documentPayment } from "./document-payments.ts";
import { stockedItem } from "./invoices.ts";

const deliveryDate = t.doc("Date of the taxable supply", t.orNull(t.date()));

export const creditNotePreview = t.record({
  ...of.previewHead("credit_notes"),
  ...of.dates,
  deliveryDate,
  ...of.previewTotals,
  ...of.payment,
});

export const creditNote = t.record({
  ...of.documentHead("credit_notes"),
  bankAccount: t.orNull(t.nested("bank_accounts", bankAccountReference)),
  payments: t.owned("document_payments", documentPayment),
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

export const creditNotes = documentResource("credit_notes", "Credit notes", {
  record: creditNote,
  preview: creditNotePreview,
  doc: "Corrections of invoices; their totals are negative",
  open: unpaid,
});
