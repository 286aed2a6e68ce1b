import type { ReportView } from "../../../src/connector/report-view.ts";
import { paidDocumentTypes } from "../resources/issued-documents.ts";
import * as c from "./parts/view-columns.ts";
import { cents, currencyOf, euroCents, sums } from "./parts/view-sql.ts";

/** SQL of the payments `d` that count, with their currencies `c` and methods `m`. */
export const paymentRows = `(SELECT * FROM document_payments d
    WHERE NOT (d.document_type = 'invoice' AND d.document_id IN (SELECT a.receipt_invoice_id FROM document_payments a
      WHERE a.receipt_invoice_id IS NOT NULL AND a.document_type = 'proforma'))) d
    LEFT JOIN currencies c ON c.id = d.currency_id LEFT JOIN payment_methods m ON m.id = d.payment_method_id`;

export const paymentsByDay: ReportView = {
  name: "v_payments_by_day",
  title: "Payments by day",
  question: "What money came in, on which day?",
  doc:
    "Money that arrived once is counted once: where a payment of a proforma names the invoice that receipts it, that " +
    "invoice's own payments are the same money and are left out. Payments by day, method and kind of document; what was paid back on credit notes is negative. " +
    "Payments of documents whose detail is not read yet are missing: `_about` says for `document_payments` of how many",
  columns: [
    c.date("payment_date", "When it was paid"),
    c.id("payment_method_id", "Id in payment_methods"),
    c.text("payment_method", "Its name"),
    c.text("document_type", "received-… are payments made by the company", paidDocumentTypes),
    c.currency,
    c.count("payments", "How many"),
    ...c.amounts("amount", "In the payment's currency", "at each payment's own rate, rounded to cents"),
  ],
  facets: ["payment_method", "document_type", "currency"],
  date: "payment_date",
  sort: { column: "payment_date", descending: true },
  sql: `SELECT payment_date, payment_method_id, max(payment_method) AS payment_method, document_type, currency,
  count(*) AS payments, ${sums("amount", "paid")}
FROM (SELECT d.payment_date AS payment_date, d.payment_method_id AS payment_method_id, m.name AS payment_method,
    d.document_type AS document_type, ${currencyOf} AS currency, ${cents("d.amount")} AS paid,
    ${euroCents("d.amount")} AS paid_eur
  FROM ${paymentRows})
GROUP BY payment_date, payment_method_id, document_type, currency`,
};
