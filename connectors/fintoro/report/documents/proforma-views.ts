import type { ReportView } from "../../../../src/connector/report-view.ts";
import * as c from "../parts/view-columns.ts";
import * as sql from "../parts/view-sql.ts";
import { paymentStatuses } from "../../resources/document-fields.ts";

/** SQL of the rates that documents and payments show, one for each currency and day. */
const knownRates = `SELECT currency_id, day, max(rate) AS rate FROM (
    SELECT currency_id, coalesce(delivery_date, issue_date) AS day, currency_rate AS rate FROM invoices
    UNION ALL
    SELECT currency_id, coalesce(delivery_date, issue_date), currency_rate FROM credit_notes
    UNION ALL
    SELECT currency_id, payment_date, currency_rate FROM document_payments
  ) WHERE rate IS NOT NULL AND day IS NOT NULL GROUP BY currency_id, day`;

const both = (column: string, name: string) => sql.inUnits(name, column, `round(${column} / rate)`);

export const proformaList: ReportView = {
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
    c.text("settlement", "What became of its payments", ["not paid", "advance", "partly settled", "settled"]),
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
  date: "issue_date",
  sort: { column: "issue_date", descending: true },
  sql: `WITH rates AS (
  ${knownRates}
), days AS (
  SELECT id, max(rate_day) OVER (PARTITION BY currency_id ORDER BY day, id IS NOT NULL) AS rate_date
  FROM (SELECT NULL AS id, currency_id, day, day AS rate_day FROM rates
    UNION ALL
    SELECT id, currency_id, issue_date, NULL FROM proformas)
), paid AS (
  SELECT document_id, count(*) AS payments, count(r.id) AS settled, group_concat(DISTINCT r.number) AS receipts,
    max(payment_date) AS last_payment_date
  FROM document_payments p LEFT JOIN invoices r ON r.id = p.receipt_invoice_id
  WHERE document_type = 'proforma' GROUP BY document_id
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
    WHEN p.payments > 0 THEN 'advance' ELSE 'not paid' END AS settlement,
  d.issue_date AS issue_date, d.due_date AS due_date, ${sql.client}, currency, rate, rate_date,
  ${both("e.total", "total")},
  ${both("e.total_with_vat", "total_with_vat")},
  ${both("(e.total_with_vat - e.to_be_paid)", "paid")},
  ${both("e.to_be_paid", "to_be_paid")},
  p.receipts AS receipts, p.last_payment_date AS last_payment_date
FROM proformas d JOIN each e ON e.id = d.id LEFT JOIN paid p ON p.document_id = d.id
  LEFT JOIN clients k ON k.id = d.client_id`,
};
