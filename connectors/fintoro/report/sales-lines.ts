import type { ReportView } from "../../../src/connector/report-view.ts";
import * as c from "./parts/view-columns.ts";
import { withShares } from "./parts/shares.ts";
import { cents, client, currencyOf, inUnits, isOfAdvance, rateOf, totals } from "./parts/view-sql.ts";

const lineColumns =
  "position price_list_item_id name quantity unit_id unit_price vat_rate total total_with_vat".split(" ");

/** SQL of the lines of one kind of document, in cents, with what is the same in all lines of a document. */
function sourceOf(type: "invoice" | "credit_note"): string {
  return `SELECT d.id AS document_id, d.number AS document_number, d.issue_date AS issue_date,
      d.delivery_date AS delivery_date, d.client_id AS client_id, d.client_name AS client_name, ${currencyOf} AS currency,
      ${rateOf} AS rate, ${type === "invoice" ? "d.type AS type" : "d.invoice_id AS invoice_id"}, ${totals()},
      ${lineColumns.map((name) => `i.${name} AS ${name}`).join(", ")},
      ${cents("i.total")} AS net_part, ${cents("i.total_with_vat")} AS gross_part
    FROM ${type}s d JOIN ${type}_items i ON i.${type}_id = d.id LEFT JOIN currencies c ON c.id = d.currency_id`;
}

/** SQL of two columns: the line's share of an amount of its document, in documents of which `condition` holds. */
function share(of: "net" | "gross", name: string, condition: string): string {
  const only = (amount: string) => `CASE WHEN ${condition} THEN ${amount} ELSE 0 END`;
  return inUnits(name, only(`d.${of}_share`), only(`d.${of}_share_eur`));
}

function linesOf(type: "invoice" | "credit_note"): string {
  const document = "document_id, client_id, issue_date, delivery_date, document_number";
  const lines = withShares(["net", "gross"], sourceOf(type), { document, order: "position" });
  const ofAdvance = isOfAdvance(`${type}s`);
  return `SELECT '${type}' AS document_type, d.document_id AS document_id, d.document_number AS document_number,
    d.issue_date AS issue_date, d.delivery_date AS delivery_date, ${client}, d.position AS position,
    d.price_list_item_id AS price_list_item_id, p.name AS price_list_item_name, d.name AS name,
    d.quantity AS quantity, u.name AS unit, d.unit_price AS unit_price, d.vat_rate AS vat_rate, d.currency AS currency,
    d.total AS total, round(d.net_part / d.rate) / 100.0 AS total_eur,
    d.total_with_vat AS total_with_vat, round(d.gross_part / d.rate) / 100.0 AS total_with_vat_eur,
    ${share("net", "revenue", `NOT ${ofAdvance}`)},
    ${share("gross", "revenue_with_vat", `NOT ${ofAdvance}`)},
    ${share("net", "receipted_advances", ofAdvance)},
    ${share("gross", "receipted_advances_with_vat", ofAdvance)}
  FROM (${lines}) d LEFT JOIN clients k ON k.id = d.client_id
    LEFT JOIN price_list_items p ON p.id = d.price_list_item_id LEFT JOIN units u ON u.id = d.unit_id`;
}

export const salesLines: ReportView = {
  name: "v_sales_lines",
  title: "Lines sold",
  question: "What was sold to whom, line by line?",
  doc:
    "Every line of invoices and credit notes with its document, client and item. Revenue is the line's share of the " +
    "document's total after the document's discount: a document's lines add up to its total, to the cent, in EUR by the document's rate. Lines of " +
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
