import type { ReportView } from "../../../src/connector/report-view.ts";
import * as c from "./parts/view-columns.ts";
import { bills, buyerOf, cents, daysSince, euroCents, isOpen, summed } from "./parts/view-sql.ts";

/** SQL of the columns of an invoice or credit note. */
function columnsOf(table: "invoices" | "credit_notes"): string {
  const isInvoice = table === "invoices";
  const owed = (term: string) => (isInvoice ? `CASE WHEN ${isOpen()} THEN ${term} ELSE 0 END` : "0");
  const late = (term: string) =>
    isInvoice ? `CASE WHEN ${isOpen()} AND ${daysSince("d.due_date")} > 0 THEN ${term} ELSE 0 END` : "0";
  return `d.client_id AS client_id, d.client_name AS client_name, ${buyerOf(table)} AS buyer, d.issue_date AS issue_date,
    ${owed(cents("d.to_be_paid"))} AS open, ${owed(euroCents("d.to_be_paid"))} AS open_eur,
    ${late(cents("d.to_be_paid"))} AS late, ${late(euroCents("d.to_be_paid"))} AS late_eur`;
}

/** SQL of two columns: a sum in the currency and in EUR; of advances or of all else only, where `ofAdvance` is given. */
function both(term: string, name: string, ofAdvance?: 0 | 1): string {
  const only = (column: string) =>
    ofAdvance === undefined ? column : `CASE WHEN s.of_advance = ${ofAdvance} THEN ${column} ELSE 0 END`;
  const inEuro = only(`s.${term}_eur`);
  return `coalesce(${summed(only(`s.${term}`))}, 0.0) AS ${name},
  CASE WHEN count(s.buyer) = count(CASE WHEN s.buyer IS NOT NULL THEN ${inEuro} END)
    THEN coalesce(${summed(inEuro)}, 0.0) END AS ${name}_eur`;
}

export const clientSummary: ReportView = {
  name: "v_client_summary",
  title: "Clients in numbers",
  question: "What did each client buy, and what is open?",
  doc:
    "Every client and currency it was invoiced in; a client without documents has one row without a currency. " +
    "Documents without a client have a row for each buyer as printed on them. Payment " +
    "receipts (tax documents of advances) and credit notes of such are no revenue and stand in columns of their own",
  columns: [
    ...c.client,
    c.currency,
    c.count("invoices", "How many, without payment receipts"),
    c.count("credit_notes", "How many, without those of payment receipts"),
    c.count("payment_receipts", "How many, credit notes of such included"),
    ...c.amounts("revenue", "Without VAT; credit notes reduce it"),
    ...c.amounts("revenue_with_vat", "With VAT"),
    ...c.receiptedAdvances,
    ...c.amounts("to_be_paid", "What is open of invoices, as in v_receivables; v_client_balance nets it"),
    ...c.amounts("overdue", "What is open and past due on the report's date"),
    c.date("first_issue_date", "Of its documents"),
    c.date("last_issue_date", "Of its documents"),
    c.buyer,
  ],
  facets: ["currency"],
  sort: { column: "revenue_eur", descending: true },
  sql: `WITH sold AS (
  ${bills(columnsOf)}
), buyers AS (
  SELECT id AS buyer, id AS client_id, name FROM clients
  UNION ALL
  SELECT buyer, client_id, max(client_name) FROM sold WHERE buyer NOT IN (SELECT id FROM clients) GROUP BY buyer
)
SELECT b.client_id AS client_id, b.name AS client_name, s.currency AS currency,
  coalesce(sum(s.is_invoice AND NOT s.of_advance), 0) AS invoices,
  coalesce(sum(NOT s.is_invoice AND NOT s.of_advance), 0) AS credit_notes, coalesce(sum(s.of_advance), 0) AS payment_receipts,
  ${both("net", "revenue", 0)},
  ${both("gross", "revenue_with_vat", 0)},
  ${both("net", "receipted_advances", 1)},
  ${both("gross", "receipted_advances_with_vat", 1)},
  ${both("open", "to_be_paid")},
  ${both("late", "overdue")},
  min(s.issue_date) AS first_issue_date, max(s.issue_date) AS last_issue_date, CAST(b.buyer AS TEXT) AS buyer
FROM buyers b LEFT JOIN sold s ON s.buyer = b.buyer
GROUP BY b.buyer, b.client_id, b.name, s.currency`,
};
