import type { ReportView } from "../../../src/connector/report-view.ts";
import * as c from "./parts/view-columns.ts";
import { withShares } from "./parts/shares.ts";
import {
  cents,
  currencyOf,
  inUnits,
  isOfAdvance,
  partiesSql,
  rateOf,
  sums,
  totals,
  withCurrency,
} from "./parts/view-sql.ts";

type Kind = "invoice" | "credit_note";

/** SQL of the day that decides the month of VAT. The interface document leaves it open, also for credit notes. */
const taxDate = "coalesce(d.delivery_date, d.issue_date)";

/** SQL of one row for each document and VAT rate, with the sum of its lines, in cents. */
function rates(type: Kind): string {
  return `SELECT *, gross - net AS vat, gross_eur - net_eur AS vat_eur, gross_part - net_part AS vat_part
  FROM (SELECT '${type}' AS document_type, d.id AS id, d.issue_date AS issue_date, ${taxDate} AS tax_date,
      ${currencyOf} AS currency, i.vat_rate AS vat_rate, coalesce(d.transfer_tax_liability, 0) AS reverse_charge,
      ${isOfAdvance(`${type}s`)} AS of_advance, ${rateOf} AS rate,
      ${totals()},
      sum(${cents("i.total")}) AS net_part, sum(${cents("i.total_with_vat")}) AS gross_part
    FROM ${withCurrency(`${type}s`)} LEFT JOIN ${type}_items i ON i.${type}_id = d.id
    GROUP BY d.id, i.vat_rate)`;
}

/** SQL of base and VAT of one kind of document by rate, in cents: each document's rows add up to its totals. */
function byRate(type: Kind): string {
  return `SELECT document_type, id, substr(tax_date, 1, 7) AS month, substr(issue_date, 1, 7) AS issue_month, currency,
    vat_rate, reverse_charge, of_advance, net_share AS base, net_share_eur AS base_eur,
    vat_share AS vat, vat_share_eur AS vat_eur
  FROM (${withShares(["net", "vat"], rates(type), { document: "id", order: "vat_rate" })})`;
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
function documentRows(type: Kind): string {
  const isInvoice = type === "invoice";
  return `SELECT r.document_type AS document_type, d.id AS document_id, d.number AS number, d.type AS type,
    ${isInvoice ? "NULL" : "o.number"} AS corrects, d.client_id AS client_id, ${partiesSql},
    d.issue_date AS issue_date, d.delivery_date AS delivery_date, r.month AS month,
    CASE WHEN d.delivery_date IS NULL THEN 'issue_date' ELSE 'delivery_date' END AS month_rule,
    r.issue_month AS issue_month, r.currency AS currency, r.vat_rate AS vat_rate, r.reverse_charge AS reverse_charge,
    r.of_advance AS of_advance, ${inUnits("base", "r.base")},
    ${inUnits("vat", "r.vat")}
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
  date: "month",
  sort: { column: "month", descending: true },
  sql: `${documentRows("invoice")}
UNION ALL
${documentRows("credit_note")}`,
};

/** SQL of two columns: a sum of what `condition` holds for, in the currency and in EUR. */
function sumsOf(column: string, name: string, condition: string): string {
  const only = (term: string) => `CASE WHEN ${condition} THEN ${term} ELSE 0 END`;
  return sums(name, only(column), only(`${column}_eur`), `${column}_eur`);
}

export const vatByMonth: ReportView = {
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
  date: "month",
  sort: { column: "month", descending: true },
  sql: `WITH parts AS (
  ${byRate("invoice")}
  UNION ALL
  ${byRate("credit_note")}
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
FROM placed
GROUP BY at, currency, vat_rate`,
};
