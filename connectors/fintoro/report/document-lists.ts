import type { ReportView } from "../../../src/connector/report-view.ts";
import { documentTypes, paymentStatuses } from "../resources/document-fields.ts";
import * as c from "./view-columns.ts";
import * as sql from "./view-sql.ts";

/** SQL of the days of each invoice's last payment; as a table, because payments have no index on their document. */
const lastPayments = `SELECT document_id, max(payment_date) AS day FROM document_payments
  WHERE document_type = 'invoice' GROUP BY document_id`;
const paidDate = "CASE WHEN d.status = 'paid' THEN p.day END";

const status = c.text("status", "As the service gives it", paymentStatuses);

const invoices: ReportView = {
  name: "v_invoices",
  title: "Invoices",
  question: "Which invoices were issued, and what became of them?",
  doc:
    "Every invoice, narrow, with labels in place of ids. Payment receipts (type payment_receipt) are tax documents of " +
    "advances, no revenue. credited is what the service says of all credit notes of the invoice, paid or not",
  columns: [
    c.id("invoice_id", "Id in invoices"),
    c.text("number", "As printed"),
    c.text("type", "payment_receipt: tax document of an advance", documentTypes.invoices),
    status,
    c.date("issue_date", "Of the invoice"),
    c.date("delivery_date", "Of the taxable supply"),
    c.date("due_date", "Of the invoice"),
    ...c.client,
    c.currency,
    ...c.amounts("total", "Without VAT"),
    ...c.amounts("total_with_vat", "With VAT"),
    ...c.amounts("to_be_paid", "What is left to pay, also where it was given up"),
    ...c.amounts("credited", "Credit notes with VAT, negative"),
    c.date("paid_date", "Of the last payment; null while not paid in full, or without payments"),
    c.count("days_to_pay", "Days from issue_date to paid_date"),
    c.count("days_overdue", "Days past due on the report's date; 0 where nothing is open"),
    c.reverseCharge,
    c.text("payment_method", "As agreed"),
    c.text("delivery_method", "As agreed"),
    c.text("business_case", "Its name"),
    c.id("variable_symbol", "Identifies its payment"),
  ],
  facets: ["type", "status", "currency"],
  ...c.newest("issue_date"),
  sql: `SELECT d.id AS invoice_id, d.number AS number, d.type AS type, d.status AS status, d.issue_date AS issue_date,
  d.delivery_date AS delivery_date, d.due_date AS due_date, ${sql.client}, ${sql.currencyOf} AS currency,
  ${sql.amountOf("total")},
  ${sql.amountOf("total_with_vat")},
  ${sql.amountOf("to_be_paid")},
  ${sql.amountOf("credit_notes_sum_total_with_vat", "credited")},
  ${paidDate} AS paid_date,
  ${sql.daysBetween("d.issue_date", paidDate)} AS days_to_pay,
  CASE WHEN ${sql.isOpen()} THEN coalesce(max(${sql.daysSince("d.due_date")}, 0), 0) ELSE 0 END AS days_overdue,
  d.transfer_tax_liability AS reverse_charge, m.name AS payment_method, v.name AS delivery_method,
  b.name AS business_case, d.variable_symbol AS variable_symbol
FROM ${sql.withClient("invoices")}
  LEFT JOIN payment_methods m ON m.id = d.payment_method_id LEFT JOIN delivery_methods v ON v.id = d.delivery_method_id
  LEFT JOIN business_cases b ON b.id = d.business_case_id LEFT JOIN (${lastPayments}) p ON p.document_id = d.id`,
};

/** One row for each document that was given up. */
function givenUp(type: "invoice" | "credit_note"): string {
  return `SELECT '${type}' AS document_type, d.id AS document_id, d.number AS number, ${sql.client}, d.issue_date AS issue_date, d.due_date AS due_date,
  ${sql.currencyOf} AS currency,
  ${sql.amountOf("total_with_vat")},
  ${sql.amountOf("to_be_paid", "written_off")}
FROM ${sql.withClient(`${type}s`)} WHERE d.status = 'will_not_be_paid'`;
}

const writeOffs: ReportView = {
  name: "v_write_offs",
  title: "Write-offs",
  question: "What was given up, and will not be paid?",
  doc:
    "Invoices and credit notes with the status will_not_be_paid: they are in no view of receivables. The service does " +
    "not say when they were given up. Proformas are not here, because nothing is owed on them: v_proformas has them",
  columns: [
    ...c.bill,
    c.text("number", "As printed"),
    ...c.client,
    c.date("issue_date", "Of the document"),
    c.date("due_date", "Of the document"),
    c.currency,
    ...c.amounts("total_with_vat", "Of the document"),
    ...c.amounts("written_off", "What was left to pay; negative on credit notes"),
  ],
  facets: ["document_type", "currency"],
  ...c.newest("issue_date"),
  sql: sql.ofBills(givenUp),
};

const daysToPay: ReportView = {
  name: "v_days_to_pay",
  title: "Days to pay",
  question: "How long do clients take to pay?",
  doc:
    "Invoices paid in full, by client: days from issue to the last payment, and how much later than due. Payment " +
    "receipts are left out, because they are issued for money that came before. Invoices whose detail is not read yet " +
    "are missing: `_about` says for `document_payments` of how many",
  columns: [
    ...c.client,
    c.count("invoices", "How many were paid"),
    c.amount("average_days", "Days from issue to payment, to one decimal"),
    c.count("shortest_days", "Days from issue to payment"),
    c.count("longest_days", "Days from issue to payment"),
    c.count("paid_late", "How many were paid after they were due"),
    c.amount("average_days_late", "Days past due of those paid late, to one decimal; null where none was"),
    c.date("last_paid_date", "Of the last one paid"),
    c.buyer,
  ],
  sort: { column: "average_days", descending: true },
  sql: `WITH paid AS (
  ${lastPayments}
), each AS (
  SELECT ${sql.buyerOf("invoices")} AS buyer, ${sql.client}, p.day AS day,
    ${sql.daysBetween("d.issue_date", "p.day")} AS days, ${sql.daysBetween("d.due_date", "p.day")} AS late
  FROM paid p JOIN invoices d ON d.id = p.document_id LEFT JOIN clients k ON k.id = d.client_id
  WHERE d.status = 'paid' AND NOT ${sql.isOfAdvance("invoices")}
)
SELECT client_id, max(client_name) AS client_name, count(*) AS invoices, round(avg(days), 1) AS average_days,
  min(days) AS shortest_days, max(days) AS longest_days, sum(coalesce(late, 0) > 0) AS paid_late,
  round(avg(CASE WHEN late > 0 THEN late END), 1) AS average_days_late, max(day) AS last_paid_date, CAST(buyer AS TEXT) AS buyer
FROM each GROUP BY buyer, client_id`,
};

/** SQL of the rates that documents and payments show, one for each currency and day. */
const knownRates = `SELECT currency_id, day, max(rate) AS rate FROM (
    SELECT currency_id, coalesce(delivery_date, issue_date) AS day, currency_rate AS rate FROM invoices
    UNION ALL
    SELECT currency_id, coalesce(delivery_date, issue_date), currency_rate FROM credit_notes
    UNION ALL
    SELECT currency_id, payment_date, currency_rate FROM document_payments
  ) WHERE rate IS NOT NULL AND day IS NOT NULL GROUP BY currency_id, day`;

const settlements = ["not paid", "advance", "partly settled", "settled"];
const both = (column: string, name: string) => sql.inUnits(name, column, `round(${column} / e.rate)`);

const proformas: ReportView = {
  name: "v_proformas",
  title: "Proforma invoices",
  question: "Which proforma invoices were issued, were they paid, and did an invoice settle them?",
  doc:
    "Every proforma. It carries no rate: EUR is at the last rate that an invoice, a credit note or a payment in this " +
    "currency shows up to its day of issue (rate_date), an estimate; null where there is none. A payment is settled " +
    "once it names an invoice that receipts it; until then it is an advance in v_client_balance",
  columns: [
    c.id("proforma_id", "Id in proformas"),
    c.text("number", "As printed"),
    c.text("status", "As the service gives it", paymentStatuses),
    c.text("settlement", "What became of its payments; null until they are read", settlements),
    c.date("issue_date", "Of the proforma"),
    c.date("due_date", "Of the proforma"),
    ...c.client,
    c.currency,
    c.amount("rate", "Units of the currency per euro: 1 for EUR, else an estimate"),
    c.date("rate_date", "The day of that rate; null for EUR"),
    ...c.amounts("total", "Without VAT", "at rate"),
    ...c.amounts("total_with_vat", "With VAT", "at rate"),
    ...c.amounts("paid", "What was paid of it", "at rate"),
    ...c.amounts("to_be_paid", "What is left to pay, also where it was given up", "at rate"),
    c.text("receipts", "Numbers of the invoices that receipt its payments"),
    c.date("last_payment_date", "Of its payments"),
  ],
  facets: ["status", "settlement", "currency"],
  ...c.newest("issue_date"),
  sql: `WITH rates AS (
  ${knownRates}
), days AS (
  SELECT id, max(rate_day) OVER (PARTITION BY currency_id ORDER BY day, id IS NOT NULL) AS rate_date
  FROM (SELECT NULL AS id, currency_id, day, day AS rate_day FROM rates
    UNION ALL
    SELECT id, currency_id, issue_date, NULL FROM proformas)
), paid AS (
  SELECT p.document_id AS document_id, count(*) AS payments, count(r.id) AS settled,
    group_concat(DISTINCT r.number) AS receipts, max(p.payment_date) AS last_payment_date
  FROM document_payments p LEFT JOIN invoices r ON r.id = p.receipt_invoice_id
  WHERE p.document_type = 'proforma' GROUP BY p.document_id
), each AS (
  SELECT d.id AS id, coalesce(${sql.euroRate}, r.rate) AS rate,
    CASE WHEN ${sql.euroRate} IS NULL THEN r.day END AS rate_date, ${sql.currencyOf} AS currency,
    ${sql.cents("d.total")} AS total, ${sql.cents("d.total_with_vat")} AS total_with_vat,
    ${sql.cents("d.to_be_paid")} AS to_be_paid
  FROM proformas d LEFT JOIN days y ON y.id = d.id LEFT JOIN currencies c ON c.id = d.currency_id
    LEFT JOIN rates r ON r.currency_id = d.currency_id AND r.day = y.rate_date
)
SELECT d.id AS proforma_id, d.number AS number, d.status AS status,
  CASE WHEN p.settled = p.payments THEN 'settled' WHEN p.settled > 0 THEN 'partly settled'
    WHEN p.payments > 0 THEN 'advance' WHEN e.to_be_paid = e.total_with_vat THEN 'not paid' END AS settlement,
  d.issue_date AS issue_date, d.due_date AS due_date, ${sql.client}, e.currency AS currency,
  e.rate AS rate, e.rate_date AS rate_date,
  ${both("e.total", "total")},
  ${both("e.total_with_vat", "total_with_vat")},
  ${both("(e.total_with_vat - e.to_be_paid)", "paid")},
  ${both("e.to_be_paid", "to_be_paid")},
  p.receipts AS receipts, p.last_payment_date AS last_payment_date
FROM proformas d JOIN each e ON e.id = d.id LEFT JOIN paid p ON p.document_id = d.id
  LEFT JOIN clients k ON k.id = d.client_id`,
};

/** SQL of what was issued in a business case: how many of each kind, and the sums of its invoices. */
function ofCases(table: "orders" | "invoices", name: string): string {
  return `SELECT business_case_id, count(*) AS ${name}, min(issue_date) AS first_date FROM ${table}
  WHERE business_case_id IS NOT NULL${table === "invoices" ? " AND type IS NOT 'payment_receipt'" : ""} GROUP BY business_case_id`;
}

const rule =
  "The service names no link from an offer to what followed, except the business case: beside it stands what else was " +
  "issued in the same case; null without a case. These documents carry no rate, so EUR is known for EUR only";
const euroOnly = "known for EUR only";
const head = [
  c.text("number", "As printed"),
  c.date("issue_date", "Of the document"),
  ...c.client,
  c.currency,
  ...c.amounts("total", "Without VAT", euroOnly),
  ...c.amounts("total_with_vat", "With VAT", euroOnly),
  c.id("business_case_id", "Id in business_cases"),
  c.text("business_case", "Its name"),
  c.text("business_case_status", "Its status today"),
];
const followers = [
  c.count("invoices_in_case", "Invoices in the same business case, without payment receipts"),
  c.date("first_invoice_date", "Of these invoices"),
];
const headSql = `d.number AS number, d.issue_date AS issue_date, ${sql.client}, ${sql.currencyOf} AS currency,
  ${sql.amountOf("total", "total", sql.euroRate)},
  ${sql.amountOf("total_with_vat", "total_with_vat", sql.euroRate)},
  d.business_case_id AS business_case_id, b.name AS business_case, s.name AS business_case_status`;
const joins = `LEFT JOIN business_cases b ON b.id = d.business_case_id LEFT JOIN business_case_statuses s ON s.id = b.status_id
  LEFT JOIN (${ofCases("invoices", "invoices")}) i ON i.business_case_id = d.business_case_id`;
const invoicesSql = `CASE WHEN d.business_case_id IS NOT NULL THEN coalesce(i.invoices, 0) END AS invoices_in_case,
  i.first_date AS first_invoice_date`;

const quotations: ReportView = {
  name: "v_quotations",
  title: "Quotations and their outcome",
  question: "What became of each quotation?",
  doc: `Accepted, rejected, waiting, or expired: waiting past its validity on the report's date. ${rule}`,
  columns: [
    c.id("quotation_id", "Id in quotations"),
    ...head,
    c.date("validity_date", "Until when the offer stands"),
    c.text("outcome", "By status and validity", ["accepted", "rejected", "waiting", "expired"]),
    c.count("orders_in_case", "Orders in the same business case"),
    ...followers,
  ],
  facets: ["outcome", "currency"],
  ...c.newest("issue_date"),
  sql: `SELECT d.id AS quotation_id, ${headSql}, d.validity_date AS validity_date, ${sql.outcome} AS outcome,
  CASE WHEN d.business_case_id IS NOT NULL THEN coalesce(o.orders, 0) END AS orders_in_case,
  ${invoicesSql}
FROM ${sql.withClient("quotations")} ${joins}
  LEFT JOIN (${ofCases("orders", "orders")}) o ON o.business_case_id = d.business_case_id`,
};

const orders: ReportView = {
  name: "v_orders",
  title: "Orders and what followed",
  question: "Which orders came in, and was something invoiced?",
  doc: rule,
  columns: [c.id("order_id", "Id in orders"), ...head, ...followers],
  facets: ["currency"],
  ...c.newest("issue_date"),
  sql: `SELECT d.id AS order_id, ${headSql},
  ${invoicesSql}
FROM ${sql.withClient("orders")} ${joins}`,
};

export const documentListViews = [invoices, writeOffs, daysToPay, proformas, quotations, orders];
