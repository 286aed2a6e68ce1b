import type { ReportView } from "../../../src/connector/report-view.ts";
import * as c from "./view-columns.ts";
import * as sql from "./view-sql.ts";

const euroOnly = "known for EUR only: these documents carry no rate";

const pipeline: ReportView = {
  name: "v_pipeline",
  title: "Quotations and orders",
  question: "What was offered and ordered in a month, and how much of it was accepted?",
  doc:
    "What was offered and ordered, by month of issue: quotations by what became of them, orders beside them. The " +
    "service does not say which quotation an order came from, so conversion is that of quotations",
  columns: [
    c.month,
    c.currency,
    c.count("quotations", "How many were issued"),
    ...c.amounts("quoted", "Without VAT", euroOnly),
    c.count("accepted", "Quotations accepted"),
    c.count("rejected", "Quotations rejected"),
    c.count("waiting", "Quotations without an answer, still valid on the report's date"),
    c.count("expired", "Quotations without an answer, no longer valid"),
    ...c.amounts("accepted_total", "Without VAT, of accepted quotations", euroOnly),
    c.amount("conversion", "Accepted quotations in percent of those answered; null while none is"),
    c.count("orders", "How many were issued"),
    ...c.amounts("ordered", "Without VAT", euroOnly),
  ],
  facets: ["currency"],
  ...c.newest("month"),
  sql: `SELECT month, currency, sum(is_quotation) AS quotations,
  ${sql.sums("quoted")},
  sum(state = 'accepted') AS accepted, sum(state = 'rejected') AS rejected,
  sum(state = 'waiting') AS waiting, sum(state = 'expired') AS expired,
  ${sql.sumsIf("state = 'accepted'", "accepted_total", "quoted", "quoted_eur")},
  round(100.0 * sum(state = 'accepted') / nullif(sum(state IN ('accepted', 'rejected')), 0), 2) AS conversion,
  sum(1 - is_quotation) AS orders, ${sql.sums("ordered")}
FROM (SELECT substr(d.issue_date, 1, 7) AS month, ${sql.currencyOf} AS currency, 1 AS is_quotation,
    coalesce(${sql.outcome}, '') AS state,
    ${sql.cents("d.total")} AS quoted, ${sql.euroCents("d.total", sql.euroRate)} AS quoted_eur, 0 AS ordered, 0 AS ordered_eur
  FROM ${sql.withCurrency("quotations")}
  UNION ALL
  SELECT substr(d.issue_date, 1, 7), ${sql.currencyOf}, 0, '', 0, 0, ${sql.cents("d.total")}, ${sql.euroCents("d.total", sql.euroRate)}
  FROM ${sql.withCurrency("orders")})
GROUP BY month, currency`,
};

const kinds = ["quotations", "orders", "invoices", "credit_notes"] as const;
const places = ["quoted", "ordered", "invoiced", "receipted_advances"] as const;

/** SQL of what each document of a table adds to its business case, in the columns of its kind. */
function worth(table: (typeof kinds)[number]): string {
  const isBill = table === "invoices" || table === "credit_notes";
  const amounts = [sql.cents("d.total"), sql.euroCents("d.total", isBill ? undefined : sql.euroRate)];
  const own = table === "quotations" ? "quoted" : "ordered";
  const cells = places.map((place) => {
    const isOwn = isBill ? place === "invoiced" || place === "receipted_advances" : place === own;
    if (!isOwn) return "0, 0";
    if (!isBill) return amounts.join(", ");
    const ofAdvance = place === "receipted_advances" ? 1 : 0;
    return amounts
      .map((amount) => sql.countedIf(`${sql.isOfAdvance(table)} = ${ofAdvance}`, amount))
      .join(", ");
  });
  return `SELECT d.business_case_id, ${sql.currencyOf}, ${cells.join(", ")}
    FROM ${sql.withCurrency(table)} WHERE d.business_case_id IS NOT NULL`;
}

const ofCases = (column: string) => sql.joinedSums(column, `w.${column}`, `w.${column}_eur`, "w.case_id");

const casesByStatus: ReportView = {
  name: "v_business_cases_by_status",
  title: "Business cases by status",
  question: "What are our business cases worth, by status?",
  doc:
    "Business cases with what was quoted, ordered and invoiced in them, by status and currency; a case without " +
    "documents counts in the row without a currency, one with documents in two currencies in both",
  columns: [
    c.id("status_id", "Id in business_case_statuses; null for cases without one"),
    c.text("status", "Its name"),
    c.currency,
    c.count("business_cases", "How many"),
    ...c.amounts("quoted", "Without VAT", euroOnly),
    ...c.amounts("ordered", "Without VAT", euroOnly),
    ...c.amounts("invoiced", "Without VAT; credit notes reduce it"),
    ...c.amounts("receipted_advances", "Without VAT: payment receipts, their credit notes; not in invoiced"),
  ],
  facets: ["status", "currency"],
  sql: `WITH worth (case_id, currency, ${places.map((place) => `${place}, ${place}_eur`).join(", ")}) AS (
  ${kinds.map(worth).join("\n  UNION ALL\n  ")}
)
SELECT b.status_id AS status_id, max(s.name) AS status, w.currency AS currency, count(DISTINCT b.id) AS business_cases,
  ${places.map(ofCases).join(",\n  ")}
FROM business_cases b LEFT JOIN business_case_statuses s ON s.id = b.status_id
  LEFT JOIN worth w ON w.case_id = b.id GROUP BY b.status_id, w.currency`,
};

export const pipelineViews = [pipeline, casesByStatus];
