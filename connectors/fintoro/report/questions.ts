import { counted } from "../../../src/base/units.ts";
import type { ReportQuestion } from "../../../src/connector/report-view.ts";
import { ifKnown } from "./view-sql.ts";

const sum = (column: string) => ifKnown(column, `sum(${column})`);

/** The sum as a column: SQLite adds doubles, so it is rounded to cents. */
const total = (column: string) => `round(${sum(column)}, 2) AS ${column}`;

/** What people ask that one look at a view does not answer: a choice, an order or a sum on top of it. */
export const questions: readonly ReportQuestion[] = [
  {
    name: "overdue_by_client",
    title: "Who is late with paying?",
    doc: "Invoices past due on the report's date, by client and currency; open credit notes are deducted in net",
    sql: `SELECT client_name, currency, sum(invoices) AS invoices, ${total("to_be_paid")}, ${total("net")}, min(oldest_due_date) AS oldest_due_date, max(most_days_overdue) AS most_days_overdue
FROM v_receivables WHERE most_days_overdue > 0
GROUP BY buyer, currency ORDER BY sum(to_be_paid_eur) DESC`,
  },
  {
    name: "best_clients",
    title: "Which clients bring the most revenue?",
    doc: "Without VAT, in EUR, of all years; credit notes reduce it",
    sql: `SELECT client_name, sum(invoices) AS invoices, ${total("revenue_eur")}, max(last_issue_date) AS last_issue_date
FROM v_client_summary GROUP BY buyer ORDER BY sum(revenue_eur) DESC LIMIT 50`,
  },
  {
    name: "best_items",
    title: "What sells best?",
    doc: "Items of the price list by revenue without VAT, from the day given (such as 2026-01-01), less what credit notes take back; advances sell nothing yet",
    sql: `SELECT price_list_item_name, round(sum(CASE WHEN receipted_advances <> 0 THEN 0
  WHEN document_type = 'credit_note' THEN -abs(quantity) ELSE quantity END), 3) AS quantity, unit, ${total("revenue_eur")}
FROM v_sales_lines WHERE price_list_item_id IS NOT NULL AND issue_date >= :from_day
GROUP BY price_list_item_id, unit ORDER BY sum(revenue_eur) DESC LIMIT 50`,
  },
  {
    name: "vat_of_month",
    title: "How much VAT is owed for a month?",
    doc: "By rate, in EUR, for the month given (such as 2026-10); output VAT only: received invoices are not in this service's interface",
    sql: `SELECT vat_rate, sum(documents) AS documents, ${total("base_eur")}, ${total("vat_eur")}, ${total("reverse_charge_eur")}
FROM v_vat_by_month WHERE month = :month GROUP BY vat_rate ORDER BY vat_rate DESC`,
  },
  {
    name: "documents_of_client",
    title: "What was issued to a client?",
    doc: "Invoices and credit notes of clients whose name contains the text given, the newest first",
    sql: `SELECT 'invoice' AS kind, number, client_name, issue_date, due_date, status, total_with_vat, to_be_paid, (SELECT symbol FROM currencies WHERE id = currency_id) AS currency
FROM invoices WHERE client_name LIKE '%' || :client || '%'
UNION ALL
SELECT 'credit note', number, client_name, issue_date, due_date, status, total_with_vat, to_be_paid, (SELECT symbol FROM currencies WHERE id = currency_id)
FROM credit_notes WHERE client_name LIKE '%' || :client || '%' ORDER BY issue_date DESC`,
  },
  {
    name: "einvoice_readiness",
    title: "How many clients are not ready for electronic invoices?",
    doc: "Clients, without consumers, whose data breaks a published rule, and their share of the turnover of the last twelve months",
    sql: `SELECT count(*) AS clients, ${total("turnover_eur")}, round(100 * ${sum("turnover_eur")} / (SELECT turnover_eur
  FROM v_einvoice_gaps WHERE term = 'buyer_reference'), 1) AS percent
FROM (SELECT DISTINCT client_id, turnover_eur FROM v_einvoice_gaps WHERE party = 'client' AND severity = 'fails'
  AND client_id IN (SELECT id FROM clients WHERE type <> 'person'
    OR trim(coalesce(subject_id, '') || coalesce(tax_id, '') || coalesce(vat_id, '')) <> ''))`,
    inStatus: ({ clients, percent }) => {
      const share = percent === null ? "" : `, ${percent} % of turnover,`;
      const who = `${counted(Number(clients), "client")}${share} ${clients === 1 ? "is" : "are"}`;
      return clients === 0 ? null : `${who} not ready for electronic invoices: see v_einvoice_gaps`;
    },
  },
  {
    name: "how_fresh",
    title: "How fresh and complete is this report?",
    doc: "Each table: when it was read whole, its rows, and how many rows lack their detail",
    sql: `SELECT subject, max(CASE WHEN fact = 'fresh_at' THEN value END) AS fresh_at,
  max(CASE WHEN fact = 'rows' THEN CAST(value AS INTEGER) END) AS row_count,
  max(CASE WHEN fact = 'complete' THEN value END) AS complete,
  max(CASE WHEN fact = 'without_detail' THEN CAST(value AS INTEGER) END) AS without_detail
FROM _about WHERE subject NOT IN ('report', 'run') GROUP BY subject ORDER BY complete, subject`,
  },
];
