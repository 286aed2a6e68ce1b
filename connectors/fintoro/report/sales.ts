import type { ReportView } from "../../../src/connector/report-view.ts";
import * as c from "./view-columns.ts";
import * as sql from "./view-sql.ts";

function revenueBy(period: "month" | "year"): ReportView {
  const isYear = period === "year";
  return {
    name: `v_revenue_by_${period}`,
    title: `Revenue by ${period}`,
    question: `What did we earn in a ${period}?`,
    ...(!isYear && { date: "month" }),
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
  ${sql.sumsIf("of_advance = 0", "revenue", "net")},
  ${sql.sumsIf("of_advance = 0", "revenue_with_vat", "gross")},
  ${sql.sumsIf("of_advance = 1", "receipted_advances", "net")},
  ${sql.sumsIf("of_advance = 1", "receipted_advances_with_vat", "gross")}
FROM (
  ${sql.bills(() => `substr(d.issue_date, 1, ${isYear ? 4 : 7}) AS period`)}
)
GROUP BY period, currency`,
  };
}

function columnsOf(table: "invoices" | "credit_notes"): string {
  const isInvoice = table === "invoices";
  const owed = (term: string, when = sql.isOpen()) => (isInvoice ? sql.countedIf(when, term) : "0");
  const late = (term: string) => owed(term, `${sql.isOpen()} AND ${sql.daysSince("d.due_date")} > 0`);
  return `d.client_id AS client_id, d.client_name AS client_name, ${sql.buyerOf(table)} AS buyer, d.issue_date AS issue_date,
    ${owed(sql.cents("d.to_be_paid"))} AS open, ${owed(sql.euroCents("d.to_be_paid"))} AS open_eur,
    ${late(sql.cents("d.to_be_paid"))} AS late, ${late(sql.euroCents("d.to_be_paid"))} AS late_eur`;
}

/** SQL of two columns: a sum in the currency and in EUR; of advances or of all else only, where `ofAdvance` is given. */
function both(term: string, name: string, ofAdvance?: 0 | 1): string {
  const only = (column: string) =>
    ofAdvance === undefined ? column : sql.countedIf(`s.of_advance = ${ofAdvance}`, column);
  return sql.joinedSums(name, only(`s.${term}`), only(`s.${term}_eur`), "s.buyer");
}

const clientSummary: ReportView = {
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
  ${sql.bills(columnsOf)}
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
FROM buyers b LEFT JOIN sold s ON s.buyer = b.buyer GROUP BY b.buyer, b.client_id, b.name, s.currency`,
};

const lineColumns =
  "position price_list_item_id name quantity unit_id unit_price vat_rate total total_with_vat".split(" ");

/** SQL of the lines of one kind of document, in cents, with what is the same in all lines of a document. */
function sourceOf(type: "invoice" | "credit_note"): string {
  return `SELECT d.id AS document_id, d.number AS document_number, d.issue_date AS issue_date,
      d.delivery_date AS delivery_date, d.client_id AS client_id, d.client_name AS client_name, ${sql.currencyOf} AS currency,
      ${sql.rateOf} AS rate, ${type === "invoice" ? "d.type AS type" : "d.invoice_id AS invoice_id"}, ${sql.totals()},
      ${lineColumns.map((name) => `i.${name} AS ${name}`).join(", ")},
      ${sql.cents("i.total")} AS net_part, ${sql.cents("i.total_with_vat")} AS gross_part
    FROM ${type}s d JOIN ${type}_items i ON i.${type}_id = d.id LEFT JOIN currencies c ON c.id = d.currency_id`;
}

/** SQL of two columns: the line's share of an amount of its document, in documents of which `condition` holds. */
function share(of: "net" | "gross", name: string, condition: string): string {
  const only = (amount: string) => `CASE WHEN ${condition} THEN ${amount} ELSE 0 END`;
  return sql.inUnits(name, only(`d.${of}_share`), only(`d.${of}_share_eur`));
}

function linesOf(type: "invoice" | "credit_note"): string {
  const document = "document_id, client_id, issue_date, delivery_date, document_number";
  const lines = sql.withShares(["net", "gross"], sourceOf(type), { document, order: "position" });
  const ofAdvance = sql.isOfAdvance(`${type}s`);
  return `SELECT '${type}' AS document_type, d.document_id AS document_id, d.document_number AS document_number,
    d.issue_date AS issue_date, d.delivery_date AS delivery_date, ${sql.client}, d.position AS position,
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

const salesLines: ReportView = {
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
  sql: sql.ofBills(linesOf),
};

export const salesViews = [revenueBy("month"), revenueBy("year"), clientSummary, salesLines];
