import { describe, expect, test } from "vitest";
import type { Db } from "../../src/store/database.ts";
import { emptySummary, rowsOf } from "../support/export/published.ts";

/** The report's date is 2026-11-20. */
const dueDate = (daysOverdue: number) =>
  new Date(Date.UTC(2026, 10, 20) - daysOverdue * 86_400_000).toISOString().slice(0, 10);

interface OpenInvoice {
  readonly daysOverdue: number;
  readonly open: number;
  readonly currency?: number;
  readonly rate?: number;
}

/** A report with these unpaid invoices of client 1. */
function reportWith(invoices: readonly OpenInvoice[]): Db {
  const db = emptySummary();
  db.exec("INSERT INTO clients (id, name) VALUES (1, 'Ann')");
  const insert = db.prepare(
    "INSERT INTO invoices (id, number, issue_date, due_date, client_id, currency_id, currency_rate, total, total_with_vat, to_be_paid, status) VALUES (?, ?, '2026-01-01', ?, 1, ?, ?, ?, ?, ?, 'issued')",
  );
  for (const [id, { daysOverdue, open, currency = 1, rate = 1 }] of invoices.entries())
    insert.run(id, `FA${id}`, dueDate(daysOverdue), currency, rate, open, open, open);
  return db;
}

/** The first and the last day past due of each age. */
const ages = {
  "not due": [-1, 0],
  "1 to 30": [1, 30],
  "31 to 60": [31, 60],
  "61 to 90": [61, 90],
  "over 90": [91],
};
const edges = Object.entries(ages).flatMap(([age, days]) => days.map((day) => [day, age] as const));

describe("the age of what is to be paid", () => {
  test.each(edges)("%i days past due is %s", (daysOverdue, age) => {
    const db = reportWith([{ daysOverdue, open: 10 }]);
    const days = Math.max(0, daysOverdue);
    const open = rowsOf(db, "SELECT age, days_overdue FROM v_open_invoices");
    expect(open).toEqual([{ age, days_overdue: days }]);
    const owed = rowsOf(db, "SELECT age, most_days_overdue, to_be_paid FROM v_receivables");
    expect(owed).toEqual([{ age, most_days_overdue: days, to_be_paid: 10 }]);
    const late = rowsOf(db, "SELECT overdue, overdue_eur FROM v_client_summary WHERE client_id = 1");
    expect(late).toEqual([days > 0 ? { overdue: 10, overdue_eur: 10 } : { overdue: 0, overdue_eur: 0 }]);
  });

  test("documents without a client stand under the name on them, and no sum loses them", () => {
    const db = reportWith([10, 5, 7].map((open) => ({ daysOverdue: 0, open })));
    db.exec("UPDATE invoices SET client_id = NULL, client_name = 'Walk-in' WHERE id > 0");
    const sql =
      "SELECT client_id, client_name, invoices, to_be_paid, revenue_eur FROM v_client_summary ORDER BY 1";
    expect(rowsOf(db, sql)).toEqual([
      { client_id: null, client_name: "Walk-in", invoices: 2, to_be_paid: 12, revenue_eur: 12 },
      { client_id: 1, client_name: "Ann", invoices: 1, to_be_paid: 10, revenue_eur: 10 },
    ]);
  });

  test("different buyers without a client are never one debtor, and the same one is one, by the same key in all views", () => {
    const db = reportWith(Array.from({ length: 7 }, (_, id) => ({ daysOverdue: 5, open: 10 ** id })));
    db.exec("UPDATE invoices SET client_id = NULL, delivery_date = issue_date");
    const set = (id: number, values: string) => db.exec(`UPDATE invoices SET ${values} WHERE id = ${id}`);
    set(0, "client_subject_id = '123', client_country_id = 1, client_name = 'Ann Ltd'");
    set(1, "client_subject_id = '123 ', client_country_id = 1, client_name = 'ANN Ltd.'");
    set(2, "client_subject_id = '123', client_country_id = 2, client_name = 'Ann Ltd'");
    set(3, "client_name = 'Ann Novak', client_city = 'Nitra'");
    set(4, "client_name = 'Ann Novak', client_city = 'Martin'");
    db.exec(`INSERT INTO credit_notes (id, invoice_id, client_id, currency_id, currency_rate, to_be_paid, total, total_with_vat)
      VALUES (1, 5, NULL, 1, 1, -3, -3, -3), (2, NULL, NULL, 1, 1, -4, -4, -4)`);
    db.exec("INSERT INTO proformas (id, currency_id) VALUES (1, 1), (2, 1)");
    db.exec(`INSERT INTO document_payments (id, document_type, document_id, currency_id, currency_rate, amount, payment_date)
      VALUES (1, 'proforma', 1, 1, 1, 5, '2026-01-02'), (2, 'proforma', 2, 1, 1, 6, '2026-01-02')`);
    const sums = (view: string, column: string) =>
      db.prepare(`SELECT ${column} FROM ${view} WHERE ${column} <> 0 ORDER BY 1`).pluck().all();
    const debts = [11, 100, 1000, 10_000, 100_000, 1_000_000];
    expect(sums("v_receivables", "to_be_paid")).toEqual(debts);
    expect(sums("v_client_balance", "invoices")).toEqual(debts);
    expect(sums("v_client_summary", "to_be_paid")).toEqual(debts);
    expect(sums("v_receivables", "credit_open")).toEqual([3]);
    expect(sums("v_receivables", "net")).toContain(99_997);
    expect(sums("v_client_balance", "credit_notes")).toEqual([3, 4]);
    expect(sums("v_client_balance", "advances")).toEqual([5, 6]);
    const keys = (view: string) =>
      new Set(db.prepare(`SELECT buyer FROM ${view} WHERE to_be_paid > 0`).pluck().all());
    expect(keys("v_receivables")).toEqual(keys("v_client_summary"));
    db.exec("UPDATE invoices SET status = 'paid'");
    db.exec(`INSERT INTO document_payments (id, document_type, document_id, payment_date)
      SELECT 10 + id, 'invoice', id, '2026-02-01' FROM invoices`);
    expect(sums("v_days_to_pay", "invoices")).toEqual([1, 1, 1, 1, 1, 2]);
  });

  test("receipts of different suppliers of one name are not one supplier", () => {
    const db = emptySummary();
    db.exec(`INSERT INTO warehouse_inbound_receipts (id, currency_id, supplier_name, supplier_subject_id, total, total_with_vat)
      VALUES (1, 1, 'Ann', '1', 1, 1), (2, 1, 'Ann', '2', 2, 2), (3, 1, 'ANN', '2', 4, 4), (4, 1, NULL, NULL, 8, 8)`);
    const totals = "SELECT total FROM v_purchases_by_supplier ORDER BY total";
    expect(db.prepare(totals).pluck().all()).toEqual([1, 6, 8]);
  });

  test("two currencies of one client and age are two sums", () => {
    const db = reportWith([
      { daysOverdue: 5, open: 10 },
      { daysOverdue: 6, open: 100, currency: 2, rate: 25 },
      { daysOverdue: 7, open: 150, currency: 2, rate: 25 },
    ]);
    const sql = "SELECT currency, invoices, to_be_paid, to_be_paid_eur FROM v_receivables ORDER BY currency";
    expect(rowsOf(db, sql)).toEqual([
      { currency: "CZK", invoices: 2, to_be_paid: 250, to_be_paid_eur: 10 },
      { currency: "EUR", invoices: 1, to_be_paid: 10, to_be_paid_eur: 10 },
    ]);
  });
});
