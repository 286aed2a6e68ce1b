import type { ReportView } from "../../../src/connector/report-view.ts";
import * as c from "./parts/view-columns.ts";
import { cents, client, currencyOf, euroCents, isOfAdvance, shareOf } from "./parts/view-sql.ts";

/**
 * The lines of one kind of document. Sums over a document's lines are subqueries of each line: so a filter on a
 * client or a document reaches the tables, and a query without revenue does not compute it.
 */
function linesOf(type: "invoice" | "credit_note"): string {
  const [table, items, key] = [`${type}s` as const, `${type}_items`, `${type}_id`];
  const sumOf = (from: string, more = "") =>
    `(SELECT sum(${cents(`l.${from}`)}) FROM ${items} l WHERE l.${key} = i.${key}${more})`;
  const isLast = `i.position = (SELECT max(l.position) FROM ${items} l WHERE l.${key} = i.${key})`;
  const share = (total: string, from: string) =>
    `(${shareOf(total, sumOf(from, " AND l.position <= i.position"), cents(`i.${from}`), sumOf(from), isLast)}) / 100.0`;
  const shares = (name: string, zeroWhen: string) =>
    (["total", "total_with_vat"] as const)
      .flatMap((from) => {
        const total = `d.${from}`;
        const own = `${name}${from.slice("total".length)}`;
        const only = (amount: string) => `CASE WHEN ${zeroWhen} THEN 0.0 ELSE ${share(amount, from)} END`;
        return [`${only(cents(total))} AS ${own}`, `${only(euroCents(total))} AS ${own}_eur`];
      })
      .join(",\n    ");
  return `SELECT '${type}' AS document_type, d.id AS document_id, d.number AS document_number,
    d.issue_date AS issue_date, d.delivery_date AS delivery_date, ${client}, i.position AS position,
    i.price_list_item_id AS price_list_item_id, p.name AS price_list_item_name, i.name AS name,
    i.quantity AS quantity, u.name AS unit, i.unit_price AS unit_price, i.vat_rate AS vat_rate,
    ${currencyOf} AS currency,
    i.total AS total, ${euroCents("i.total")} / 100.0 AS total_eur,
    i.total_with_vat AS total_with_vat, ${euroCents("i.total_with_vat")} / 100.0 AS total_with_vat_eur,
    ${shares("revenue", isOfAdvance(table))},
    ${shares("receipted_advances", `NOT ${isOfAdvance(table)}`)}
  FROM ${items} i JOIN ${table} d ON d.id = i.${key} LEFT JOIN currencies c ON c.id = d.currency_id
    LEFT JOIN clients k ON k.id = d.client_id LEFT JOIN price_list_items p ON p.id = i.price_list_item_id
    LEFT JOIN units u ON u.id = i.unit_id`;
}

export const salesLines: ReportView = {
  name: "v_sales_lines",
  title: "Lines sold",
  question: "What was sold to whom, line by line?",
  doc:
    "Every line of invoices and credit notes with its document, client and item. Revenue is the line's share of the " +
    "document's total after the document's discount: a document's lines add up to its total, to the cent. Lines of " +
    "payment receipts (tax documents of advances) and of credit notes of such are no revenue: their share stands in " +
    "columns of its own. Documents " +
    "whose detail is not read yet are missing: `_about` says for `invoice_items` and `credit_note_items` how many",
  columns: [
    ...c.bill,
    c.text("document_number", "As printed"),
    c.date("issue_date", "Of the document"),
    c.date("delivery_date", "Of the taxable supply"),
    ...c.client,
    c.count("position", "The line's place in the document, from 0"),
    c.id("price_list_item_id", "Id in price_list_items; null for a line written by hand"),
    c.text("price_list_item_name", "As the item is called today"),
    c.text("name", "As printed on the line"),
    c.amount("quantity", "Negative or of negative price on credit notes"),
    c.text("unit", "Unit of measure"),
    c.amount("unit_price", "Without VAT, before discounts"),
    c.amount("vat_rate", "Percent"),
    c.currency,
    ...c.amounts("total", "Without VAT, after the line's own discount", "rounded to cents per line"),
    ...c.amounts("total_with_vat", "With VAT, after the line's own discount", "rounded to cents per line"),
    ...c.amounts("revenue", "Without VAT, after the document's discount, too"),
    ...c.amounts("revenue_with_vat", "With VAT, after the document's discount, too"),
    ...c.receiptedAdvances,
  ],
  date: "issue_date",
  facets: ["document_type", "currency", "vat_rate"],
  sql: `${linesOf("invoice")}
UNION ALL
${linesOf("credit_note")}`,
};
