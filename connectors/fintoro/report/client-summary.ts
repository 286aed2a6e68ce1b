import type { ReportView } from "../../../src/connector/report-view.ts";
import * as c from "./view-columns.ts";
import { cents, currencyOf, daysSince, euroCents, isOpen, summed } from "./amount-sql.ts";

/** One row for each document of a table. */
function documentRows(table: string, isInvoice: 0 | 1): string {
  const owed = (term: string) => (isInvoice === 1 ? `CASE WHEN ${isOpen} THEN ${term} ELSE 0 END` : "0");
  const late = (term: string) =>
    isInvoice === 1 ? `CASE WHEN ${isOpen} AND ${daysSince("d.due_date")} > 0 THEN ${term} ELSE 0 END` : "0";
  return `SELECT d.client_id AS client_id, d.client_name AS client_name, ${currencyOf("d")} AS currency,
    ${isInvoice} AS is_invoice, d.issue_date AS issue_date,
    ${cents("d.total")} AS net, ${euroCents("d.total")} AS net_eur,
    ${cents("d.total_with_vat")} AS gross, ${euroCents("d.total_with_vat")} AS gross_eur,
    ${owed(cents("d.to_be_paid"))} AS open, ${owed(euroCents("d.to_be_paid"))} AS open_eur,
    ${late(cents("d.to_be_paid"))} AS late, ${late(euroCents("d.to_be_paid"))} AS late_eur
  FROM ${table} d LEFT JOIN currencies c ON c.id = d.currency_id`;
}

/** SQL of two columns: a sum in the currency and in EUR. */
const both = (term: string, name: string) =>
  `coalesce(${summed(term)}, 0.0) AS ${name},
  CASE WHEN count(s.client_id) = count(s.${term}_eur) THEN coalesce(${summed(`s.${term}_eur`)}, 0.0) END AS ${name}_eur`;

export const clientSummary: ReportView = {
  name: "v_client_summary",
  title: "Clients in numbers",
  doc: "Every client and currency it was invoiced in; a client without documents has one row without a currency",
  columns: [
    c.clientId,
    c.clientName,
    c.currency,
    c.count("invoices", "How many"),
    c.count("credit_notes", "How many"),
    ...c.amounts("revenue", "Without VAT; credit notes reduce it"),
    ...c.amounts("revenue_with_vat", "With VAT"),
    ...c.amounts("to_be_paid", "What is open, as in v_receivables"),
    ...c.amounts("overdue", "What is open and past due on the report's date"),
    c.date("first_issue_date", "Of its documents"),
    c.date("last_issue_date", "Of its documents"),
  ],
  facets: ["currency"],
  sort: { column: "revenue_eur", descending: true },
  sql: `WITH sold AS (
  ${documentRows("invoices", 1)}
  UNION ALL
  ${documentRows("credit_notes", 0)}
), buyers AS (
  SELECT id AS client_id, name FROM clients
  UNION ALL
  SELECT client_id, max(client_name) FROM sold
  WHERE client_id IS NOT NULL AND client_id NOT IN (SELECT id FROM clients) GROUP BY client_id
)
SELECT b.client_id AS client_id, b.name AS client_name, s.currency AS currency,
  coalesce(sum(s.is_invoice), 0) AS invoices, count(s.client_id) - coalesce(sum(s.is_invoice), 0) AS credit_notes,
  ${both("net", "revenue")},
  ${both("gross", "revenue_with_vat")},
  ${both("open", "to_be_paid")},
  ${both("late", "overdue")},
  min(s.issue_date) AS first_issue_date, max(s.issue_date) AS last_issue_date
FROM buyers b LEFT JOIN sold s ON s.client_id = b.client_id
GROUP BY b.client_id, b.name, s.currency`,
};
