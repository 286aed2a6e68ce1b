import * as t from "../../../../src/connector/record-schema.ts";
import { bankAccountReference } from "../bank-accounts.ts";
import { documentResource, unpaid } from "../resource-builders.ts";
import * as of from "./document-fields.ts";
import { documentPayment } from "./document-payments.ts";
import { invoicePreview } from "./invoice-preview.ts";

/** A line that may move stock; credit notes have the same. */
const { id, total, totalWithVat, ...line } = of.item(false);
export const stockedItem = t.record({
  id,
  uuid: t.doc("Keeps the line's stock links when sent back on update", t.text()),
  ...line,
  priceListItemId: t.doc("The price list item the line came from", t.orNull(t.idOf("price_list_items"))),
  total,
  totalWithVat,
});

export const invoice = t.record({
  ...of.documentHeadStated("invoices"),
  bankAccount: t.nested("bank_accounts", bankAccountReference),
  payments: t.owned("document_payments", documentPayment),
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

export const invoices = documentResource("invoices", "Invoices", {
  record: invoice,
  preview: invoicePreview,
  open: unpaid,
});
