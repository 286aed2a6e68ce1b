import * as t from "../../../src/connector/record-schema.ts";
import { defineResource } from "../../../src/connector/resource.ts";
import { created, lines, money, nullable, smallResource, tags, walkedResource } from "./fields.ts";

const accountRecord = t.record({
  subdomain: t.doc("The account in the service's addresses", t.text()),
  ...nullable(t.text, "plan invoice_email phone web name full_name registration_no vat_no local_vat_no"),
  vat_mode: t.orNull(t.oneOf(["vat_payer", "non_vat_payer", "identified_person"])),
  ...nullable(t.text, "vat_price_mode street city zip country currency unit_name displayed_note"),
  ...nullable(t.text, "invoice_note invoice_language invoice_payment_method default_estimate_type"),
  ...nullable(t.decimal, "plan_price vat_rate"),
  ...nullable(t.integer, "plan_paid_users due overdue_email_days digitoo_remaining_extractions"),
  due_date_reminder_email_days: t.orNull(t.integer()),
  api_calls_limit: t.doc("Calls that the plan allows in a month", t.orNull(t.integer())),
  api_calls_used: t.doc("Calls of this month, when the row was written last", t.orNull(t.integer())),
  ...nullable(t.boolean, "invoice_proforma fixed_exchange_rate invoice_selfbilling send_overdue_email"),
  ...nullable(t.boolean, "send_repeated_reminders send_invoice_from_proforma_email send_thank_you_email"),
  ...nullable(t.boolean, "invoice_paypal invoice_gopay digitoo_enabled digitoo_auto_processing_enabled"),
  send_due_date_reminder_email: t.orNull(t.boolean()),
  invoice_hide_bank_account_for_payments: t.orNull(t.json(t.record({}))),
  ...created,
});

export const account = defineResource({
  name: "account",
  singular: "account",
  title: "Account",
  record: accountRecord,
  list: { kind: "single", path: "/account.json", counters: ["api_calls_used"] },
  volatile: ["api_calls_used"],
  doc: "The account this mirror belongs to; one row",
});

export const bankAccounts = smallResource("bank_accounts", "Bank accounts", {
  path: "/bank_accounts.json",
  record: t.record({
    id: t.integer(),
    ...nullable(t.text, "name currency number iban swift_bic"),
    ...nullable(t.boolean, "pairing expense_pairing payment_adjustment default"),
    ...created,
  }),
});

export const numberFormats = smallResource("number_formats", "Number formats", {
  path: "/number_formats/invoices.json",
  record: t.record({
    id: t.integer(),
    ...nullable(t.text, "format preview"),
    default: t.orNull(t.boolean()),
    ...created,
  }),
  doc: "Of invoices; archived ones are in no list",
});

const switches = "setting_update_from_ares setting_invoice_pdf_attachments setting_estimate_pdf_attachments";
const reminders = "setting_invoice_send_reminders setting_invoice_send_due_date_reminders";

export const subjects = walkedResource("subjects", "Contacts", {
  doc: "Customers and suppliers as they are today; documents carry their own copy",
  record: t.record({
    id: t.integer(),
    custom_id: t.orNull(t.text()),
    user_id: t.orNull(t.integer()),
    type: t.orNull(t.oneOf(["customer", "supplier", "both"])),
    name: t.text(),
    ...nullable(t.text, "full_name email email_copy phone web street city zip country"),
    has_delivery_address: t.orNull(t.boolean()),
    ...nullable(t.text, "delivery_name delivery_street delivery_city delivery_zip delivery_country"),
    due: t.doc("Days to pay", t.orNull(t.integer())),
    ...nullable(t.text, "currency language private_note"),
    registration_no: t.doc("Business registration number (IČO)", t.orNull(t.text())),
    vat_no: t.doc("DIČ in Czechia, IČ DPH in Slovakia", t.orNull(t.text())),
    local_vat_no: t.doc("Slovak DIČ", t.orNull(t.text())),
    unreliable: t.orNull(t.boolean()),
    unreliable_checked_at: t.orNull(t.timestamp()),
    ...nullable(t.text, "legal_form vat_mode bank_account iban swift_bic variable_symbol"),
    ...nullable(t.text, `${switches} ${reminders}`),
    ...nullable(t.boolean, "ares_update suggestion_enabled"),
    ...nullable(t.text, "custom_email_text overdue_email_text invoice_from_proforma_email_text"),
    ...nullable(t.text, "thank_you_email_text custom_estimate_email_text due_date_reminder_email_text"),
    ...nullable(t.text, "webinvoice_history html_url url"),
    ...created,
  }),
});

const template = (of: string) => ({
  id: t.integer(),
  ...nullable(t.text, "custom_id name"),
  ...nullable(t.boolean, "proforma paypal gopay tax_date_at_end_of_last_month"),
  due: t.orNull(t.integer()),
  subject_id: t.orNull(t.idOf("subjects")),
  number_format_id: t.orNull(t.idOf("number_formats")),
  ...nullable(t.text, "note footer_note"),
  legacy_bank_details: t.orNull(t.snapshot(t.record(nullable(t.text, "bank_account iban swift_bic")))),
  bank_account_id: t.orNull(t.idOf("bank_accounts")),
  iban_visibility: t.orNull(t.text()),
  ...tags,
  order_number: t.orNull(t.text()),
  ...money,
  ...nullable(t.text, "payment_method custom_payment_method language vat_price_mode"),
  transferred_tax_liability: t.orNull(t.boolean()),
  ...nullable(t.text, "supply_code oss"),
  ...lines(of),
  ...nullable(t.text, "html_url url subject_url"),
  ...created,
});

export const generators = walkedResource("generators", "Invoice templates", {
  record: t.record(template("generator")),
});

export const recurringGenerators = walkedResource("recurring_generators", "Recurring invoices", {
  record: t.record({
    ...template("recurring_generator"),
    active: t.orNull(t.boolean()),
    ...nullable(t.date, "start_date end_date next_occurrence_on"),
    months_period: t.orNull(t.integer()),
    ...nullable(t.boolean, "last_day_in_month send_email"),
  }),
});
