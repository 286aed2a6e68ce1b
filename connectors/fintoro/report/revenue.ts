import type { ReportView } from "../../../src/connector/report-view.ts";
import * as c from "./view-columns.ts";
import { cents, currencyOf, euroCents, summed, summedIfKnown } from "./amount-sql.ts";

/** One row for each document of a table. */
function documentRows(table: string, isInvoice: 0 | 1): string {
  return `SELECT substr(d.issue_date, 1, 7) AS month, ${currencyOf("d")} AS currency, ${isInvoice} AS is_invoice,
    ${cents("d.total")} AS net, ${euroCents("d.total")} AS net_eur,
    ${cents("d.total_with_vat")} AS gross, ${euroCents("d.total_with_vat")} AS gross_eur
  FROM ${table} d LEFT JOIN currencies c ON c.id = d.currency_id`;
}

export const revenueByMonth: ReportView = {
  name: "v_revenue_by_month",
  title: "Revenue by month",
  doc: "Invoices and credit notes by the month of their issue; credit notes are negative and reduce it",
  columns: [
    c.month,
    c.currency,
    c.count("invoices", "How many were issued"),
    c.count("credit_notes", "How many were issued"),
    ...c.amounts("revenue", "Without VAT, after all discounts"),
    ...c.amounts("revenue_with_vat", "With VAT"),
  ],
  facets: ["currency"],
  date: "month",
  sort: { column: "month", descending: true },
  sql: `SELECT month, currency, sum(is_invoice) AS invoices, count(*) - sum(is_invoice) AS credit_notes,
  ${summed("net")} AS revenue, ${summedIfKnown("net_eur")} AS revenue_eur,
  ${summed("gross")} AS revenue_with_vat, ${summedIfKnown("gross_eur")} AS revenue_with_vat_eur
FROM (
  ${documentRows("invoices", 1)}
  UNION ALL
  ${documentRows("credit_notes", 0)}
)
GROUP BY month, currency`,
};
