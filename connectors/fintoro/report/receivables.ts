import type { ReportView } from "../../../src/connector/report-view.ts";
import * as c from "./view-columns.ts";
import * as sql from "./amount-sql.ts";

const age = c.text("age", "By days past due on the report's date: not_due, 1-30, 31-60, 61-90, over_90");
const days = `coalesce(max(${sql.daysSince("d.due_date")}, 0), 0)`;

/** Documents that are not paid, one row each. */
function openDocuments(table: string, rate?: string): string {
  return `SELECT d.id AS id, d.number AS number, d.client_id AS client_id,
    coalesce(k.name, d.client_name) AS client_name, d.issue_date AS issue_date, d.due_date AS due_date,
    ${days} AS days_overdue, ${sql.ageOf(days)} AS age, d.status AS status, d.variable_symbol AS variable_symbol,
    ${sql.currencyOf("d")} AS currency, ${sql.cents("d.total_with_vat")} AS gross,
    ${sql.euroCents("d.total_with_vat", rate)} AS gross_eur, ${sql.cents("d.to_be_paid")} AS open,
    ${sql.euroCents("d.to_be_paid", rate)} AS open_eur
  FROM ${table} d LEFT JOIN currencies c ON c.id = d.currency_id LEFT JOIN clients k ON k.id = d.client_id
  WHERE ${sql.isOpen}`;
}

export const receivables: ReportView = {
  name: "v_receivables",
  title: "Receivables",
  doc: "Invoices that are not paid, by client and age; without those that will not be paid",
  columns: [
    c.clientId,
    c.clientName,
    c.currency,
    age,
    c.count("invoices", "How many"),
    ...c.amounts("to_be_paid", "What is open"),
    c.date("oldest_due_date", "Of these invoices"),
    c.count("most_days_overdue", "Of these invoices"),
  ],
  facets: ["age", "currency"],
  sort: { column: "to_be_paid_eur", descending: true },
  sql: `SELECT client_id, max(client_name) AS client_name, currency, age, count(*) AS invoices,
  ${sql.summed("open")} AS to_be_paid, ${sql.summedIfKnown("open_eur")} AS to_be_paid_eur,
  min(due_date) AS oldest_due_date, max(days_overdue) AS most_days_overdue
FROM (${openDocuments("invoices")})
GROUP BY client_id, currency, age`,
};

/** A view with one row for each open document of a table; `rate` is SQL. */
function oneByOne(table: string, key: string, rate?: string): Omit<ReportView, "name" | "title" | "doc"> {
  return {
    columns: [
      c.id(key, `Id in ${table}`),
      c.text("number", "As printed"),
      c.clientId,
      c.clientName,
      c.date("issue_date", "Of the document"),
      c.date("due_date", "Of the document"),
      c.count("days_overdue", "Days past due on the report's date; 0 while it is not due"),
      age,
      c.text("status", "As the service gives it"),
      c.id("variable_symbol", "Identifies its payment"),
      c.currency,
      ...c.amounts("total_with_vat", "Of the document"),
      ...c.amounts("to_be_paid", "What is open"),
    ],
    facets: ["age", "status", "currency"],
    date: "issue_date",
    sort: { column: "due_date", descending: false },
    sql: `SELECT id AS ${key}, number, client_id, client_name, issue_date, due_date, days_overdue, age, status,
  variable_symbol, currency, gross / 100.0 AS total_with_vat, gross_eur / 100.0 AS total_with_vat_eur,
  open / 100.0 AS to_be_paid, open_eur / 100.0 AS to_be_paid_eur
FROM (${openDocuments(table, rate)})`,
  };
}

export const openInvoices: ReportView = {
  name: "v_open_invoices",
  title: "Open invoices",
  doc: "The invoices behind v_receivables, one by one",
  ...oneByOne("invoices", "invoice_id"),
};

export const unpaidProformas: ReportView = {
  name: "v_unpaid_proformas",
  title: "Unpaid proformas",
  doc: "Proforma invoices that are not paid, without those that will not be; they carry no rate, so EUR is known for EUR only",
  ...oneByOne("proformas", "proforma_id", `(${sql.euroRate})`),
};
