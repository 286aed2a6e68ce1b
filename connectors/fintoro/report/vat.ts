import type { ReportView } from "../../../src/connector/report-view.ts";
import * as c from "./view-columns.ts";
import { cents, currencyOf, euroCents, shareOf, summed, summedIfKnown } from "./amount-sql.ts";

/** One row for each document and VAT rate: the sum of its lines, and the sum of all rates up to it. */
function rates(type: "invoice" | "credit_note"): string {
  const w = "OVER (PARTITION BY id ORDER BY vat_rate)";
  return `SELECT month, currency, vat_rate, reverse_charge, net, net_eur, gross, gross_eur, line_net, line_gross,
    sum(line_net) ${w} AS reached_net, sum(line_gross) ${w} AS reached_gross,
    sum(line_net) OVER (PARTITION BY id) AS all_net, sum(line_gross) OVER (PARTITION BY id) AS all_gross,
    row_number() ${w} = count(*) OVER (PARTITION BY id) AS is_last
  FROM (SELECT d.id AS id, substr(coalesce(d.delivery_date, d.issue_date), 1, 7) AS month,
      ${currencyOf("d")} AS currency, i.vat_rate AS vat_rate, coalesce(d.transfer_tax_liability, 0) AS reverse_charge,
      ${cents("d.total")} AS net, ${euroCents("d.total")} AS net_eur,
      ${cents("d.total_with_vat")} AS gross, ${euroCents("d.total_with_vat")} AS gross_eur,
      sum(${cents("i.total")}) AS line_net, sum(${cents("i.total_with_vat")}) AS line_gross
    FROM ${type}s d LEFT JOIN currencies c ON c.id = d.currency_id LEFT JOIN ${type}_items i ON i.${type}_id = d.id
    GROUP BY d.id, i.vat_rate)`;
}

/** SQL of the share of a document's amount that falls on the row's rate. */
function spread(amountColumn: string, kind: "net" | "gross"): string {
  return shareOf(amountColumn, `reached_${kind}`, `line_${kind}`, `all_${kind}`, "is_last");
}

const charged = (column: string) => `CASE WHEN reverse_charge THEN 0 ELSE ${column} END`;
const reversed = (column: string) => `CASE WHEN reverse_charge THEN ${column} ELSE 0 END`;

export const vatByMonth: ReportView = {
  name: "v_vat_by_month",
  title: "VAT by month",
  question: "How much output VAT do we owe for a month?",
  doc:
    "Invoices and credit notes by the month of delivery (of issue where there is none) and the rate of their lines. " +
    "A document's discount is spread over its rates in proportion, to the cent: base, VAT and reverse charge of " +
    "all rows together are the documents' totals. Documents whose detail is not read yet have no lines here: `_about` " +
    "says for `invoice_items` and `credit_note_items` how many are missing",
  columns: [
    c.month,
    c.currency,
    c.amount(
      "vat_rate",
      "Percent; null for documents without lines, also where their detail is not read yet",
    ),
    c.count("documents", "Those with a line of this rate"),
    ...c.amounts("base", "Without VAT, where the seller owes it"),
    ...c.amounts("vat", "What is owed on it"),
    ...c.amounts("reverse_charge", "Without VAT, where the client owes it instead"),
  ],
  facets: ["currency", "vat_rate"],
  date: "month",
  sort: { column: "month", descending: true },
  sql: `SELECT month, currency, vat_rate, count(*) AS documents,
  ${summed(charged("base"))} AS base, ${summedIfKnown(charged("base_eur"), "base_eur")} AS base_eur,
  ${summed("with_vat - base")} AS vat, ${summedIfKnown("with_vat_eur - base_eur")} AS vat_eur,
  ${summed(reversed("base"))} AS reverse_charge, ${summedIfKnown(reversed("base_eur"), "base_eur")} AS reverse_charge_eur
FROM (
  SELECT month, currency, vat_rate, reverse_charge,
    ${spread("net", "net")} AS base, ${spread("net_eur", "net")} AS base_eur,
    ${spread("gross", "gross")} AS with_vat, ${spread("gross_eur", "gross")} AS with_vat_eur
  FROM (
  ${rates("invoice")}
  UNION ALL
  ${rates("credit_note")}
  )
)
GROUP BY month, currency, vat_rate`,
};
