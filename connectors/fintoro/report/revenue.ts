import type { ReportView } from "../../../src/connector/report-view.ts";
import * as c from "./parts/view-columns.ts";
import { bills, sums } from "./parts/view-sql.ts";

/** SQL of a sum of revenue, or of what belongs to advances, as two columns. */
function sumsOf(term: string, name: string, ofAdvance: 0 | 1): string {
  const only = (column: string) => `CASE WHEN of_advance = ${ofAdvance} THEN ${column} ELSE 0 END`;
  return sums(name, only(term), only(`${term}_eur`));
}

function revenueBy(period: "month" | "year"): Omit<ReportView, "name" | "title" | "question"> {
  const isYear = period === "year";
  return {
    doc:
      "Invoices and credit notes by their date of issue. Credit notes are negative and reduce it. Payment receipts " +
      "(tax documents of advances) and credit notes of such are no revenue and stand in columns of their own; where " +
      "final invoices deduct the advance by a negative line, add both",
    columns: [
      isYear ? c.count("year", "Of issue") : c.month,
      c.currency,
      c.count("invoices", "How many were issued, without payment receipts"),
      c.count("credit_notes", "How many were issued, without those of payment receipts"),
      c.count("payment_receipts", "How many were issued, credit notes of such included"),
      ...c.amounts("revenue", "Without VAT, after all discounts"),
      ...c.amounts("revenue_with_vat", "With VAT"),
      ...c.receiptedAdvances,
    ],
    facets: ["currency"],
    sort: { column: period, descending: true },
    sql: `SELECT ${isYear ? "CAST(period AS INTEGER)" : "period"} AS ${period}, currency,
  sum(is_invoice = 1 AND of_advance = 0) AS invoices, sum(is_invoice = 0 AND of_advance = 0) AS credit_notes,
  sum(of_advance) AS payment_receipts,
  ${sumsOf("net", "revenue", 0)},
  ${sumsOf("gross", "revenue_with_vat", 0)},
  ${sumsOf("net", "receipted_advances", 1)},
  ${sumsOf("gross", "receipted_advances_with_vat", 1)}
FROM (
  ${bills(() => `substr(d.issue_date, 1, ${isYear ? 4 : 7}) AS period`)}
)
GROUP BY period, currency`,
  };
}

export const revenueByMonth: ReportView = {
  name: "v_revenue_by_month",
  title: "Revenue by month",
  question: "What did we earn in a month?",
  date: "month",
  ...revenueBy("month"),
};

export const revenueByYear: ReportView = {
  name: "v_revenue_by_year",
  title: "Revenue by year",
  question: "What did we earn in a year?",
  ...revenueBy("year"),
};
