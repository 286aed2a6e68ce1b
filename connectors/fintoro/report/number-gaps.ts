import type { ReportView } from "../../../src/connector/report-view.ts";
import * as c from "./parts/view-columns.ts";

const documents = ["invoices", "credit_notes", "proformas", "orders", "quotations"] as const;

/** SQL of a pattern's text with `0` for each digit that a token of year or month stands for. */
function rendered(text: string): string {
  const tokens = ["RRRR", "YYYY", "RR", "YY", "MM"];
  return tokens.reduce((sql, token) => `replace(${sql}, '(${token})', '${"0".repeat(token.length)}')`, text);
}

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
export const numberGaps: ReportView = {
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
    c.text("document_type", "Table of the documents"),
    c.text("after_number", "The last one before the gap"),
    c.text("before_number", "The first one after it"),
    c.count("first_missing", "Counter"),
    c.count("last_missing", "Counter"),
    c.count("missing", "How many"),
  ],
  facets: ["document_type", "series"],
  sql: `WITH series AS (
  SELECT s.id AS id, s.name AS name, length(${rendered(beforeCounter)}) AS head, length(${rendered(afterCounter)}) AS tail
  FROM numerical_series s WHERE instr(s.pattern, '(C') > 0
), documents (document_type, numerical_series_id, number) AS (
  ${documents.map(numbersOf).join("\n  UNION ALL\n  ")}
), parts AS (
  SELECT d.document_type AS document_type, s.id AS id, s.name AS name, d.number AS number,
    substr(d.number, 1, s.head) || '|' || substr(d.number, length(d.number) - s.tail + 1, s.tail) AS period,
    substr(d.number, s.head + 1, length(d.number) - s.head - s.tail) AS counter
  FROM documents d JOIN series s ON s.id = d.numerical_series_id
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
