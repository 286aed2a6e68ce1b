import type { ReportView } from "../../../../src/connector/report-view.ts";
import * as c from "../parts/view-columns.ts";
import * as sql from "../parts/view-sql.ts";
import { documentTypes, paymentStatuses } from "../../resources/document-fields.ts";

/** SQL of the days of each invoice's last payment; as a table, because payments have no index on their document. */
const lastPayments = `SELECT document_id, max(payment_date) AS day FROM document_payments
  WHERE document_type = 'invoice' GROUP BY document_id`;
const paidDate = "CASE WHEN d.status = 'paid' THEN p.day END";

const status = c.text("status", "As the service gives it", paymentStatuses);

export const invoiceList: ReportView = {
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
  date: "issue_date",
  sort: { column: "issue_date", descending: true },
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
FROM ${sql.withClient(`${type}s`)}
WHERE d.status = 'will_not_be_paid'`;
}

export const writeOffs: ReportView = {
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
  date: "issue_date",
  sort: { column: "issue_date", descending: true },
  sql: `${givenUp("invoice")}
UNION ALL
${givenUp("credit_note")}`,
};

export const daysToPay: ReportView = {
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
