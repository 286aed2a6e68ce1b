import type { ChangeSheet, MonthPackage, ReportView } from "../../src/connector/report-view.ts";
import * as sql from "./report/view-sql.ts";
import * as c from "./report/view-columns.ts";
import { paymentRows, vatDocuments } from "./report/bookkeeping.ts";
import { einvoiceGaps } from "./report/einvoice-gaps.ts";
import words from "./accountant-month.json" with { type: "json" };

const question = "What does the accountant book of a month?";
const byNumber = { column: "number", descending: false };

/** SQL of the VAT of a document `d`; `cents` of its currency or of EUR. */
const vatOf = (cents: (amount: string) => string) => `(${cents("d.total_with_vat")} - ${cents("d.total")})`;

function documents(table: "invoices" | "credit_notes", title: string): ReportView {
  const isInvoice = table === "invoices";
  return {
    name: `month_${table}`,
    title,
    question,
    doc: "What was issued in the month",
    columns: [
      c.text("number", "As printed"),
      c.text("type", "As the service gives it"),
      ...(isInvoice ? [] : [c.text("corrects", "Number of the invoice")]),
      c.date("issue_date", "Of the document"),
      c.date("delivery_date", "Of the taxable supply"),
      c.date("due_date", "Of the document"),
      ...c.parties,
      c.id("variable_symbol", "Identifies its payment"),
      c.reverseCharge,
      c.currency,
      c.amount("currency_rate", "Units of the currency per euro"),
      ...c.amounts("total", "Without VAT"),
      ...c.amounts("vat", "What is owed"),
      ...c.amounts("total_with_vat", "With VAT"),
    ],
    date: "issue_date",
    sort: byNumber,
    sql: `SELECT d.id AS id, d.number AS number, d.type AS type, ${isInvoice ? "" : "o.number AS corrects, "}d.issue_date AS issue_date,
  d.delivery_date AS delivery_date, d.due_date AS due_date, ${sql.partiesSql},
  d.variable_symbol AS variable_symbol, d.transfer_tax_liability AS reverse_charge,
  ${sql.currencyOf} AS currency, d.currency_rate AS currency_rate,
  ${sql.amountOf("total")},
  ${sql.inUnits("vat", vatOf(sql.cents), vatOf(sql.euroCents))},
  ${sql.amountOf("total_with_vat")}
FROM ${sql.withCurrency(table)} LEFT JOIN countries s ON s.id = d.client_country_id${
      isInvoice ? "" : " LEFT JOIN invoices o ON o.id = d.invoice_id"
    }`,
  };
}

const added = (column: string) => sql.sums(column, sql.cents(column), sql.cents(`${column}_eur`));

const vatByRate: ReportView = {
  name: "month_vat_rates",
  title: "VAT by rate",
  question,
  doc: "The rows of v_vat_documents of the month of issue, added up",
  columns: [
    c.issueMonth,
    c.currency,
    c.amount("vat_rate", "Percent"),
    c.reverseCharge,
    c.flag("of_advance", "1: payment receipts, and credit notes of such"),
    c.count("documents", "Those with a line of this rate"),
    ...c.amounts("base", "Without VAT"),
    ...c.amounts("vat", "What is owed on it"),
  ],
  date: "issue_month",
  sort: { column: "currency", descending: false },
  sql: `SELECT issue_month, currency, vat_rate, reverse_charge, of_advance, count(*) AS documents,
  ${added("base")}, ${added("vat")}
FROM v_vat_documents GROUP BY currency, vat_rate, reverse_charge, of_advance, issue_month`,
};

const control: ReportView = {
  name: "month_control",
  title: "Control totals",
  question,
  doc: "Totals of documents beside those of v_vat_documents; both differences are 0",
  columns: [
    c.issueMonth,
    c.currency,
    c.count("documents", "Invoices and credit notes"),
    c.amount("document_total", "Of the documents, without VAT"),
    c.amount("base", "Of their rates"),
    c.amount("base_difference", "document_total less base"),
    c.amount("document_vat", "Of the documents"),
    c.amount("vat", "Of their rates"),
    c.amount("vat_difference", "document_vat less vat"),
  ],
  date: "issue_month",
  sort: { column: "currency", descending: false },
  sql: `SELECT issue_month, currency, sum(documents) AS documents, ${sql.summed("total")} AS document_total,
  ${sql.summed("base")} AS base, ${sql.summed("total - base")} AS base_difference,
  ${sql.summed("tax")} AS document_vat, ${sql.summed("vat")} AS vat, ${sql.summed("tax - vat")} AS vat_difference
FROM (
  ${["invoices", "credit_notes"]
    .map(
      (
        table,
      ) => `SELECT substr(d.issue_date, 1, 7) AS issue_month, ${sql.currencyOf} AS currency, 1 AS documents,
    ${sql.cents("d.total")} AS total, ${vatOf(sql.cents)} AS tax, 0 AS base, 0 AS vat
  FROM ${sql.withCurrency(table)}`,
    )
    .join("\n  UNION ALL\n  ")}
  UNION ALL
  SELECT issue_month, currency, 0, 0, 0, ${sql.cents("base")}, ${sql.cents("vat")} FROM v_vat_documents
)
GROUP BY currency, issue_month`,
};

const paid = ["invoice", "credit_note", "proforma"] as const;
const typeOf = (kind: (typeof paid)[number]) => kind.replace("_", "-");

const payments: ReportView = {
  name: "month_payments",
  title: "Payments",
  question,
  doc: "Money of the month, once: a proforma's payment and that of the invoice that receipts it are the same",
  columns: [
    c.date("payment_date", "When it was paid"),
    c.text("document_type", "Which was paid"),
    c.text("document_number", "As printed"),
    c.text("client_name", "As on the document"),
    c.id("variable_symbol", "Of the document"),
    c.text("payment_method", "Its name"),
    c.currency,
    ...c.amounts("amount", "In the payment's currency; negative: paid back"),
  ],
  date: "payment_date",
  sort: { column: "payment_date", descending: false },
  sql: `SELECT d.payment_date AS payment_date, d.document_type AS document_type, k.number AS document_number,
  k.client_name AS client_name, k.variable_symbol AS variable_symbol, m.name AS payment_method,
  ${sql.currencyOf} AS currency,
  ${sql.amountOf("amount")}
FROM ${paymentRows} LEFT JOIN (${paid
    .map((kind) => `SELECT '${typeOf(kind)}' AS type, id, number, client_name, variable_symbol FROM ${kind}s`)
    .join(" UNION ALL ")}) k ON k.type = d.document_type AND k.id = d.document_id`,
};

/** SQL of what was paid on each document after the report's date, in cents of its currency; null where a rate is not known. */
function paidSince(kind: "invoice" | "credit_note"): string {
  const rate = "coalesce(p.currency_rate, CASE WHEN e.symbol = 'EUR' THEN 1 END)";
  const amount = `CASE WHEN p.currency_id IS d.currency_id THEN ${sql.cents("p.amount")}
        ELSE round(${sql.cents("p.amount")} / ${rate} * ${sql.rateOf}) END`;
  return `SELECT d.id AS id, ${sql.ifKnown(amount, `sum(${amount})`)} AS paid
      FROM ${sql.withCurrency(`${kind}s`)} JOIN document_payments p ON p.document_id = d.id LEFT JOIN currencies e ON e.id = p.currency_id
      WHERE p.document_type = '${typeOf(kind)}' AND p.payment_date > ${sql.reportDate} GROUP BY d.id`;
}

function openDocuments(kind: "invoice" | "credit_note"): string {
  return `SELECT '${kind}' AS document_type, d.number AS number, d.client_name AS client_name, d.issue_date AS issue_date,
    d.due_date AS due_date, d.variable_symbol AS variable_symbol, ${sql.currencyOf} AS currency,
    ${sql.cents("d.total_with_vat")} AS gross, ${sql.cents("d.to_be_paid")} + CASE WHEN s.id IS NULL THEN 0 ELSE s.paid END AS open, ${sql.rateOf} AS rate
  FROM ${sql.withCurrency(`${kind}s`)} LEFT JOIN (${paidSince(kind)}) s ON s.id = d.id
  WHERE d.issue_date <= ${sql.reportDate} AND d.status IS NOT 'will_not_be_paid'`;
}

const openItems: ReportView = {
  name: "month_open_items",
  title: "Open at the month's end",
  question,
  doc: "Invoices, credit notes (negative) and advances that no invoice settles (negative), as on the report's date",
  columns: [
    c.date("as_of", "The report's date"),
    c.text("document_type", "What is open", ["invoice", "credit_note", "proforma"]),
    c.text("number", "As printed"),
    c.text("client_name", "As on the document"),
    c.date("issue_date", "Of the document; of an advance the day it was paid"),
    c.date("due_date", "Of the document"),
    c.count("days_overdue", "On that date"),
    c.id("variable_symbol", "Identifies its payment"),
    c.currency,
    ...c.amounts("total_with_vat", "Of the document"),
    ...c.amounts("to_be_paid", "What was open; null where a later payment in another currency has no rate"),
  ],
  date: "as_of",
  sort: { column: "issue_date", descending: false },
  sql: `SELECT ${sql.reportDate} AS as_of, document_type, number, client_name, issue_date, due_date,
  coalesce(max(${sql.daysSince("due_date")}, 0), 0) AS days_overdue, variable_symbol, currency,
  ${sql.inUnits("total_with_vat", "gross", "round(gross / rate)")},
  ${sql.inUnits("to_be_paid", "open", "round(open / rate)")}
FROM (
  SELECT * FROM (${openDocuments("invoice")}) WHERE open > 0 OR open IS NULL
  UNION ALL
  SELECT * FROM (${openDocuments("credit_note")}) WHERE open < 0 OR open IS NULL
  UNION ALL
  SELECT 'proforma', k.number, k.client_name, d.payment_date, NULL, k.variable_symbol, ${sql.currencyOf},
    ${sql.cents("d.amount")}, -${sql.cents("d.amount")}, ${sql.rateOf}
  FROM document_payments d JOIN proformas k ON k.id = d.document_id LEFT JOIN currencies c ON c.id = d.currency_id
  WHERE d.document_type = 'proforma' AND d.payment_date <= ${sql.reportDate} AND NOT EXISTS (
    SELECT 1 FROM invoices r WHERE r.id = d.receipt_invoice_id AND r.issue_date <= ${sql.reportDate})
)`,
};

const monthSheets: readonly ReportView[] = [
  documents("invoices", "Invoices issued"),
  documents("credit_notes", "Credit notes issued"),
  vatByRate,
  { ...vatDocuments, name: "month_vat_documents", date: "issue_date", sort: byNumber },
  control,
  payments,
  openItems,
  {
    ...einvoiceGaps,
    name: "month_einvoice_gaps",
    columns: [c.date("as_of", "The report's date"), ...einvoiceGaps.columns],
    date: "as_of",
    sql: `SELECT ${sql.reportDate} AS as_of, g.* FROM v_einvoice_gaps g`,
  },
];

const changed: ChangeSheet = {
  name: "month_changes",
  title: "Changes since hand-over",
  question,
  doc: "Documents that were added, changed, deleted or moved to another month, field by field",
  columns: [
    { ...c.issueMonth, name: "month", doc: "Which was handed over" },
    c.text("document", "Its number"),
    c.text("change", "What happened", ["added", "changed", "deleted", "moved"]),
    c.text("field", "Of the sheet of documents"),
    c.text("old", "As it was handed over"),
    c.text("new", "As it is now"),
    { name: "seen_at", type: "TIMESTAMP", doc: "When the mirror saw the last change of the document" },
    c.text("cause", "Why it was read then, as in the change log"),
  ],
  date: "month",
  sort: { column: "document", descending: false },
};

const corrected: ChangeSheet = {
  name: "month_vat_corrections",
  title: "VAT corrections",
  question,
  doc: "Rows of VAT that changed: code 1 as they were handed over, code 2 as they are now",
  // Sums of old and new rows say nothing.
  columns: [c.count("code", "1: the old row; 2: the new one"), ...vatDocuments.columns].map(
    ({ name, type, doc, values, format }) => {
      return { name, type, doc, ...(values && { values }), ...(format && { format }) };
    },
  ),
  date: "issue_date",
  sort: byNumber,
};

/** A month for the accountant, in Slovak: the accountant reads it first. */
export const accountantMonth: MonthPackage = {
  language: "sk",
  sheets: monthSheets,
  documents: ["invoices", "credit_notes"],
  days: { from: "issueDateFrom", to: "issueDateTo" },
  changes: {
    documents: { month_invoices: "invoices", month_credit_notes: "credit_notes" },
    vat: "month_vat_documents",
    sheets: { changed, corrected },
  },
  ...words,
};
