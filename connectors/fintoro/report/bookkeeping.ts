import type { ReportView } from "../../../src/connector/report-view.ts";
import { paidDocumentTypes } from "../resources/issued-documents.ts";
import * as c from "./view-columns.ts";
import * as sql from "./view-sql.ts";

type BillKind = "invoice" | "credit_note";

/** SQL of the day that decides the month of VAT. The interface document leaves it open, also for credit notes. */
const taxDate = "coalesce(d.delivery_date, d.issue_date)";

/** SQL of one row for each document and VAT rate, with the sum of its lines, in cents. */
function rates(type: BillKind): string {
  return `SELECT *, gross - net AS vat, gross_eur - net_eur AS vat_eur, gross_part - net_part AS vat_part
  FROM (SELECT '${type}' AS document_type, d.id AS id, d.issue_date AS issue_date, ${taxDate} AS tax_date,
      ${sql.currencyOf} AS currency, i.vat_rate AS vat_rate, coalesce(d.transfer_tax_liability, 0) AS reverse_charge,
      ${sql.isOfAdvance(`${type}s`)} AS of_advance, ${sql.rateOf} AS rate,
      ${sql.totals()},
      sum(${sql.cents("i.total")}) AS net_part, sum(${sql.cents("i.total_with_vat")}) AS gross_part
    FROM ${sql.withCurrency(`${type}s`)} LEFT JOIN ${type}_items i ON i.${type}_id = d.id
    GROUP BY d.id, i.vat_rate)`;
}

/** SQL of base and VAT of one kind of document by rate, in cents: each document's rows add up to its totals. */
function byRate(type: BillKind): string {
  return `SELECT document_type, id, substr(tax_date, 1, 7) AS month, substr(issue_date, 1, 7) AS issue_month, currency,
    vat_rate, reverse_charge, of_advance, net_share AS base, net_share_eur AS base_eur,
    vat_share AS vat, vat_share_eur AS vat_eur
  FROM (${sql.withShares(["net", "vat"], rates(type), { document: "id", order: "vat_rate" })})`;
}

const rule =
  "The month is that of delivery_date, of issue_date where there is none. The service does not say which month a " +
  "credit note belongs to";
const spreadRule =
  "A document's discount is spread over its rates in proportion, to the cent. Documents whose detail is not read yet " +
  "have no lines and no rate: `_about` says for `invoice_items` and `credit_note_items` how many are missing";
const rate = c.amount(
  "vat_rate",
  "Percent; null for documents without lines, also where their detail is not read yet",
);

/** SQL of a document's rows with what an accountant copies from it. */
function documentRows(type: BillKind): string {
  const isInvoice = type === "invoice";
  return `SELECT r.document_type AS document_type, d.id AS document_id, d.number AS number, d.type AS type,
    ${isInvoice ? "NULL" : "o.number"} AS corrects, d.client_id AS client_id, ${sql.partiesSql},
    d.issue_date AS issue_date, d.delivery_date AS delivery_date, r.month AS month,
    CASE WHEN d.delivery_date IS NULL THEN 'issue_date' ELSE 'delivery_date' END AS month_rule,
    r.issue_month AS issue_month, r.currency AS currency, r.vat_rate AS vat_rate, r.reverse_charge AS reverse_charge,
    r.of_advance AS of_advance, ${sql.inUnits("base", "r.base")},
    ${sql.inUnits("vat", "r.vat")}
  FROM (${byRate(type)}) r JOIN ${type}s d ON d.id = r.id LEFT JOIN countries s ON s.id = d.client_country_id${
    isInvoice ? "" : "\n    LEFT JOIN invoices o ON o.id = d.invoice_id"
  }`;
}

export const vatDocuments: ReportView = {
  name: "v_vat_documents",
  title: "Output VAT by document",
  question: "Which documents make up the output VAT of a month?",
  doc:
    "Every invoice and credit note by VAT rate; output VAT only, because received invoices are not in the service's " +
    "interface. base adds up to the document's total and vat to its VAT, to the cent. " +
    `${rule}: month follows month_rule, and issue_month stands beside it. ${spreadRule}`,
  columns: [
    ...c.bill,
    c.text("number", "As printed"),
    c.text("type", "As the service gives it; payment_receipt: tax document of an advance"),
    c.text("corrects", "Number of the invoice that a credit note corrects; null where it is deleted"),
    c.clientId,
    ...c.parties,
    c.date("issue_date", "Of the document"),
    c.date("delivery_date", "Of the taxable supply"),
    { ...c.month, doc: "YYYY-MM, by month_rule" },
    c.text("month_rule", "Which date decides the month", ["delivery_date", "issue_date"]),
    c.issueMonth,
    c.currency,
    rate,
    c.reverseCharge,
    c.flag("of_advance", "1: a payment receipt, or a credit note of one: VAT, no revenue"),
    ...c.amounts("base", "Without VAT"),
    ...c.amounts("vat", "What is owed on it; 0 under reverse charge"),
  ],
  facets: ["document_type", "month_rule", "vat_rate", "currency", "client_country"],
  ...c.newest("month"),
  sql: sql.ofBills(documentRows),
};

/** SQL of two columns: a sum of the rows for which the condition holds, in EUR only where all rows are known. */
const sumsOf = (column: string, name: string, condition: string) =>
  sql.sumsIf(condition, name, column, `${column}_eur`);

const vatByMonth: ReportView = {
  name: "v_vat_by_month",
  title: "Output VAT by month",
  question: "How much output VAT do we owe for a month?",
  doc:
    "Invoices and credit notes by month and by the rate of their lines: the rows of v_vat_documents added up. Output " +
    "VAT only, because received invoices are not in the service's interface. " +
    `${rule}: it follows the same rule, and columns beside it count it in its month of issue. ` +
    `Base, VAT and reverse charge of all rows together are the documents' totals. ${spreadRule}`,
  columns: [
    c.month,
    c.currency,
    rate,
    c.count("documents", "Those of the month with a line of this rate"),
    ...c.amounts("base", "Without VAT, where the seller owes it"),
    ...c.amounts("vat", "What is owed on it"),
    ...c.amounts("reverse_charge", "Without VAT, where the client owes it instead"),
    ...c.amounts("advance_base", "Of base: payment receipts and credit notes of such"),
    ...c.amounts("advance_vat", "Of vat: payment receipts and credit notes of such"),
    ...c.amounts("base_by_issue", "As base, with credit notes in the month of their issue"),
    ...c.amounts("vat_by_issue", "As vat, with credit notes in the month of their issue"),
  ],
  facets: ["currency", "vat_rate"],
  ...c.newest("month"),
  sql: `WITH parts AS (
  ${sql.ofBills(byRate)}
), placed AS (
  SELECT month AS at, 1 AS by_rule, document_type = 'invoice' OR issue_month = month AS by_issue, p.* FROM parts p
  UNION ALL
  SELECT issue_month, 0, 1, p.* FROM parts p WHERE document_type = 'credit_note' AND issue_month <> month
)
SELECT at AS month, currency, vat_rate, sum(by_rule) AS documents,
  ${sumsOf("base", "base", "by_rule AND NOT reverse_charge")},
  ${sumsOf("vat", "vat", "by_rule")},
  ${sumsOf("base", "reverse_charge", "by_rule AND reverse_charge")},
  ${sumsOf("base", "advance_base", "by_rule AND of_advance AND NOT reverse_charge")},
  ${sumsOf("vat", "advance_vat", "by_rule AND of_advance")},
  ${sumsOf("base", "base_by_issue", "by_issue AND NOT reverse_charge")},
  ${sumsOf("vat", "vat_by_issue", "by_issue")}
FROM placed GROUP BY at, currency, vat_rate`,
};

/** SQL of the proformas' payments `a` that an invoice `r` receipts, which may be deleted. */
const receipted = `document_payments a LEFT JOIN invoices r ON r.id = a.receipt_invoice_id
        WHERE a.document_type = 'proforma' AND a.receipt_invoice_id IS NOT NULL`;

/**
 * SQL of the payments `d` that count, with their currencies `c` and methods `m`. What a payment receipt shows as paid is
 * its advance. An ordinary invoice may be paid further: only what equals the advance is the same money.
 */
export const paymentRows = `(SELECT * FROM document_payments d
    WHERE NOT (d.document_type = 'invoice'
      AND (d.document_id IN (SELECT a.receipt_invoice_id FROM ${receipted} AND r.type IS NOT 'invoice')
        OR (d.document_id, d.payment_date, d.currency_id, d.amount) IN
          (SELECT a.receipt_invoice_id, a.payment_date, a.currency_id, a.amount FROM ${receipted})))) d
    LEFT JOIN currencies c ON c.id = d.currency_id LEFT JOIN payment_methods m ON m.id = d.payment_method_id`;

const paymentsByDay: ReportView = {
  name: "v_payments_by_day",
  title: "Payments by day",
  question: "What money came in, on which day?",
  doc:
    "Money that arrived once is counted once: where a payment of a proforma names the invoice that receipts it, what a " +
    "payment receipt shows as paid is left out, and of an ordinary invoice what equals the advance in day, " +
    "currency and amount. Payments by day, method and kind of document; what was paid back on credit notes is negative. " +
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
  ...c.newest("payment_date"),
  sql: `SELECT payment_date, payment_method_id, max(payment_method) AS payment_method, document_type, currency,
  count(*) AS payments, ${sql.sums("amount", "paid")}
FROM (SELECT d.payment_date AS payment_date, d.payment_method_id AS payment_method_id, m.name AS payment_method,
    d.document_type AS document_type, ${sql.currencyOf} AS currency, ${sql.cents("d.amount")} AS paid,
    ${sql.euroCents("d.amount")} AS paid_eur
  FROM ${paymentRows}) GROUP BY payment_date, payment_method_id, document_type, currency`,
};

const documents = ["invoices", "credit_notes", "proformas", "orders", "quotations"] as const;

const periods = ["RRRR", "YYYY", "RR", "YY", "MM"];
const asDigits = (made: string, period: string) =>
  `replace(${made}, '(${period})', '${"[0-9]".repeat(period.length)}')`;
/** SQL of a GLOB for a pattern's text: a digit for each letter of a period, any sign for `[`, which GLOB cannot read. */
const globOf = (text: string) => periods.reduce(asDigits, `replace(${text}, '[', '?')`);
const lengthOf = (text: string) => `length(replace(${globOf(text)}, '[0-9]', '0'))`;

/** Only details name the series: where one is missing, its number would seem to be. */
function numbersOf(table: string): string {
  return `SELECT '${table}', numerical_series_id, number FROM ${table}
    WHERE NOT EXISTS (SELECT 1 FROM _about WHERE subject = '${table}' AND fact = 'without_detail' AND value <> '0')`;
}

const beforeCounter = "substr(s.pattern, 1, instr(s.pattern, '(C') - 1)";
const fromCounter = "substr(s.pattern, instr(s.pattern, '(C'))";
const afterCounter = `substr(${fromCounter}, instr(${fromCounter}, ')') + 1)`;

/**
 * Finds the counter of each number by the pattern of its series: in `FA(RRRR)(CCC)`, FA2026017 has the counter
 * 17. Numbers of a series with the same text around the counter form one sequence; a new year begins a new one.
 */
const numberGaps: ReportView = {
  name: "v_number_gaps",
  title: "Gaps in numbering",
  question: "Which numbers of documents are missing?",
  doc:
    "Numbers missing between two documents of a numbering series: deleted documents, or numbers never used. What is " +
    "missing before a series' first or after its last document is not known; numbers written by hand that do not " +
    "fit the series' pattern are left out, and so are kinds of documents while details are still missing",
  columns: [
    c.id("numerical_series_id", "Id in numerical_series"),
    c.text("series", "Its name"),
    c.text("document_type", "Table of the documents", documents),
    c.text("after_number", "The last one before the gap"),
    c.text("before_number", "The first one after it"),
    c.count("first_missing", "Counter"),
    c.count("last_missing", "Counter"),
    c.count("missing", "How many"),
  ],
  facets: ["document_type", "series"],
  sql: `WITH series AS (
  SELECT s.id AS id, s.name AS name, ${lengthOf(beforeCounter)} AS head, ${lengthOf(afterCounter)} AS tail,
    ${globOf(beforeCounter)} || '*' || ${globOf(afterCounter)} AS shape
  FROM numerical_series s WHERE instr(s.pattern, '(C') > 0
), documents (document_type, numerical_series_id, number) AS (
  ${documents.map(numbersOf).join("\n  UNION ALL\n  ")}
), parts AS (
  SELECT d.document_type AS document_type, s.id AS id, s.name AS name, d.number AS number,
    substr(d.number, 1, s.head) || '|' || substr(d.number, length(d.number) - s.tail + 1, s.tail) AS period,
    substr(d.number, s.head + 1, length(d.number) - s.head - s.tail) AS counter
  FROM documents d JOIN series s ON s.id = d.numerical_series_id AND d.number GLOB s.shape
), counted AS (
  SELECT document_type, id, name, number, CAST(counter AS INTEGER) AS counter,
    lead(number) OVER w AS next_number, lead(CAST(counter AS INTEGER)) OVER w AS next_counter
  FROM parts WHERE counter <> '' AND counter NOT GLOB '*[^0-9]*' AND length(counter) <= 15
  WINDOW w AS (PARTITION BY document_type, id, period ORDER BY CAST(counter AS INTEGER), number)
)
SELECT id AS numerical_series_id, name AS series, document_type, number AS after_number, next_number AS before_number,
  counter + 1 AS first_missing, next_counter - 1 AS last_missing, next_counter - counter - 1 AS missing
FROM counted WHERE next_counter > counter + 1`,
};

export const bookkeepingViews = [vatByMonth, vatDocuments, paymentsByDay, numberGaps];
