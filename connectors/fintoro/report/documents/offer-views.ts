import type { ReportView } from "../../../../src/connector/report-view.ts";
import * as c from "../parts/view-columns.ts";
import * as sql from "../parts/view-sql.ts";

/** SQL of what was issued in a business case: how many of each kind, and the sums of its invoices. */
function ofCases(table: "orders" | "invoices", name: string): string {
  return `SELECT business_case_id, count(*) AS ${name}, min(issue_date) AS first_date FROM ${table}
  WHERE business_case_id IS NOT NULL${table === "invoices" ? " AND type IS NOT 'payment_receipt'" : ""} GROUP BY business_case_id`;
}

const rule =
  "The service names no link from an offer to what followed, except the business case: beside it stands what else was " +
  "issued in the same case; null without a case. These documents carry no rate, so EUR is known for EUR only";
const euroOnly = "known for EUR only";
const head = [
  c.text("number", "As printed"),
  c.date("issue_date", "Of the document"),
  ...c.client,
  c.currency,
  ...c.amounts("total", "Without VAT", euroOnly),
  ...c.amounts("total_with_vat", "With VAT", euroOnly),
  c.id("business_case_id", "Id in business_cases"),
  c.text("business_case", "Its name"),
  c.text("business_case_status", "Its status today"),
];
const followers = [
  c.count("invoices_in_case", "Invoices in the same business case, without payment receipts"),
  c.date("first_invoice_date", "Of these invoices"),
];
const headSql = `d.number AS number, d.issue_date AS issue_date, ${sql.client}, ${sql.currencyOf} AS currency,
  ${sql.amountOf("total", "total", sql.euroRate)},
  ${sql.amountOf("total_with_vat", "total_with_vat", sql.euroRate)},
  d.business_case_id AS business_case_id, b.name AS business_case, s.name AS business_case_status`;
const joins = `LEFT JOIN business_cases b ON b.id = d.business_case_id LEFT JOIN business_case_statuses s ON s.id = b.status_id
  LEFT JOIN (${ofCases("invoices", "invoices")}) i ON i.business_case_id = d.business_case_id`;
const invoicesSql = `CASE WHEN d.business_case_id IS NOT NULL THEN coalesce(i.invoices, 0) END AS invoices_in_case,
  i.first_date AS first_invoice_date`;

export const quotationList: ReportView = {
  name: "v_quotations",
  title: "Quotations and their outcome",
  question: "What became of each quotation?",
  doc: `Accepted, rejected, waiting, or expired: waiting past its validity on the report's date. ${rule}`,
  columns: [
    c.id("quotation_id", "Id in quotations"),
    ...head,
    c.date("validity_date", "Until when the offer stands"),
    c.text("outcome", "By status and validity", ["accepted", "rejected", "waiting", "expired"]),
    c.count("orders_in_case", "Orders in the same business case"),
    ...followers,
  ],
  facets: ["outcome", "currency"],
  date: "issue_date",
  sort: { column: "issue_date", descending: true },
  sql: `SELECT d.id AS quotation_id, ${headSql}, d.validity_date AS validity_date, ${sql.outcome} AS outcome,
  CASE WHEN d.business_case_id IS NOT NULL THEN coalesce(o.orders, 0) END AS orders_in_case,
  ${invoicesSql}
FROM ${sql.withClient("quotations")} ${joins}
  LEFT JOIN (${ofCases("orders", "orders")}) o ON o.business_case_id = d.business_case_id`,
};

export const orderList: ReportView = {
  name: "v_orders",
  title: "Orders and what followed",
  question: "Which orders came in, and was something invoiced?",
  doc: rule,
  columns: [c.id("order_id", "Id in orders"), ...head, ...followers],
  facets: ["currency"],
  date: "issue_date",
  sort: { column: "issue_date", descending: true },
  sql: `SELECT d.id AS order_id, ${headSql},
  ${invoicesSql}
FROM ${sql.withClient("orders")} ${joins}`,
};
