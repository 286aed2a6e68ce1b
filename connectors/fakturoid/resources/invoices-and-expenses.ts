import * as t from "../../../src/connector/record-schema.ts";
import { created, documentParts, money, nullable, tags, walkedResource } from "./fields.ts";

const party = (who: string) =>
  ["name", "street", "city", "zip", "country", "registration_no", "vat_no", "local_vat_no"]
    .map((field) => `${who}_${field}`)
    .join(" ");

const documentTypes = t.namesIn("invoice proforma partial_proforma correction tax_document final_invoice");

const paidAdvance = t.record({
  id: t.orNull(t.idOf("invoices")),
  ...nullable(t.text, "number variable_symbol"),
  paid_on: t.orNull(t.date()),
  ...nullable(t.decimal, "vat_rate price vat"),
});

export const invoices = walkedResource("invoices", "Invoices", {
  doc: "Invoices, proformas, corrections and tax documents, by document_type",
  record: t.record({
    id: t.integer(),
    custom_id: t.orNull(t.text()),
    document_type: t.oneOf(documentTypes),
    proforma_followup_document: t.orNull(t.text()),
    correction_id: t.doc("Of an invoice its correction, and the other way", t.orNull(t.idOf("invoices"))),
    number: t.text(),
    number_format_id: t.orNull(t.idOf("number_formats")),
    ...nullable(t.text, "variable_symbol order_number token"),
    subject_id: t.orNull(t.idOf("subjects")),
    subject_custom_id: t.orNull(t.text()),
    generator_id: t.orNull(t.integer()),
    related_id: t.doc("Of a proforma its invoice, and the other way", t.orNull(t.idOf("invoices"))),
    ...nullable(t.text, `${party("your")} ${party("client")}`),
    client_has_delivery_address: t.orNull(t.boolean()),
    ...nullable(t.text, "client_delivery_name client_delivery_street client_delivery_city"),
    ...nullable(t.text, "client_delivery_zip client_delivery_country"),
    status: t.oneOf(["open", "sent", "overdue", "paid", "cancelled", "uncollectible"]),
    issued_on: t.date(),
    taxable_fulfillment_due: t.orNull(t.date()),
    due: t.orNull(t.integer()),
    ...nullable(t.date, "due_on paid_on"),
    ...nullable(t.timestamp, "sent_at reminder_sent_at last_reminder_sent_at due_date_reminder_sent_at"),
    ...nullable(t.timestamp, "cancelled_at uncollectible_at locked_at"),
    webinvoice_seen_on: t.orNull(t.date()),
    ...nullable(t.text, "note footer_note private_note"),
    ...tags,
    ...nullable(t.text, "bank_account iban swift_bic iban_visibility"),
    show_already_paid_note_in_pdf: t.orNull(t.boolean()),
    ...nullable(t.text, "payment_method custom_payment_method"),
    ...nullable(t.boolean, "hide_bank_account paypal gopay"),
    ...money,
    ...nullable(t.decimal, "remaining_amount remaining_native_amount"),
    language: t.orNull(t.text()),
    transferred_tax_liability: t.orNull(t.boolean()),
    ...nullable(t.text, "supply_code oss vat_price_mode"),
    eet_records: t.orNull(t.json(t.record({}))),
    ...documentParts("invoice", { tax_document_id: t.orNull(t.idOf("invoices")) }),
    paid_advances: t.orNull(t.children("invoice_paid_advances", paidAdvance)),
    ...nullable(t.text, "html_url public_html_url url pdf_url subject_url"),
    ...created,
  }),
});

export const expenses = walkedResource("expenses", "Expenses", {
  doc: "Received invoices and bills",
  record: t.record({
    id: t.integer(),
    ...nullable(t.text, "custom_id number"),
    original_number: t.doc("As the supplier numbered it", t.orNull(t.text())),
    variable_symbol: t.orNull(t.text()),
    ...nullable(t.text, party("supplier")),
    subject_id: t.orNull(t.idOf("subjects")),
    status: t.oneOf(["open", "overdue", "paid"]),
    document_type: t.orNull(t.oneOf(["invoice", "bill", "other"])),
    issued_on: t.date(),
    ...nullable(t.date, "taxable_fulfillment_due received_on due_on paid_on"),
    remind_due_date: t.orNull(t.boolean()),
    locked_at: t.orNull(t.timestamp()),
    ...nullable(t.text, "description private_note"),
    ...tags,
    ...nullable(t.text, "bank_account iban swift_bic payment_method custom_payment_method"),
    ...money,
    transferred_tax_liability: t.orNull(t.boolean()),
    ...nullable(t.text, "supply_code vat_price_mode"),
    proportional_vat_deduction: t.doc("Percent", t.orNull(t.integer())),
    tax_deductible: t.orNull(t.boolean()),
    ...documentParts("expense"),
    ...nullable(t.text, "html_url url subject_url"),
    ...created,
  }),
});
