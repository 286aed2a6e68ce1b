import { expect, test } from "vitest";
import { accountantMonth } from "../../connectors/fintoro/accountant-month.ts";
import type { Db } from "../../src/store/database.ts";
import { emptySummary, rowsOf } from "../support/export/published.ts";

/** A report with the sheets of the accountant's month; its date is 2026-11-20. */
function monthReport(): Db {
  const db = emptySummary();
  for (const { name, sql } of accountantMonth.sheets) db.exec(`CREATE VIEW ${name} AS ${sql}`);
  return db;
}

test("an invoice that receipts an advance counts with what else was paid on it, and a payment receipt with nothing", () => {
  const db = monthReport();
  db.exec(`INSERT INTO invoices (id, type) VALUES (1, 'invoice'), (2, 'payment_receipt');
    INSERT INTO proformas (id) VALUES (1), (2);
    INSERT INTO document_payments (id, document_type, document_id, currency_id, currency_rate, payment_date, amount, receipt_invoice_id)
    VALUES (1, 'proforma', 1, 1, 1, '2026-11-02', 50, 1), (2, 'invoice', 1, 1, 1, '2026-11-02', 50, NULL),
      (3, 'invoice', 1, 1, 1, '2026-11-09', 50, NULL), (4, 'invoice', 1, 1, 1, '2026-11-02', 7, NULL),
      (5, 'proforma', 2, 1, 1, '2026-11-03', 80, 2), (6, 'invoice', 2, 1, 1, '2026-11-04', 80, NULL)`);
  const money = [
    { payment_date: "2026-11-02", document_type: "invoice", amount: 7 },
    { payment_date: "2026-11-02", document_type: "proforma", amount: 50 },
    { payment_date: "2026-11-03", document_type: "proforma", amount: 80 },
    { payment_date: "2026-11-09", document_type: "invoice", amount: 50 },
  ];
  for (const view of ["v_payments_by_day", "month_payments"])
    expect(rowsOf(db, `SELECT payment_date, document_type, amount FROM ${view} ORDER BY 1, 2`)).toEqual(
      money,
    );
});

test("what was paid later in another currency was open at the month's end, and is not known where it has no rate", () => {
  const db = monthReport();
  db.exec(`INSERT INTO invoices (id, number, issue_date, currency_id, currency_rate, total_with_vat, to_be_paid)
    VALUES (1, 'FA1', '2026-11-01', 2, 25, 250, 0), (2, 'FA2', '2026-11-01', 1, NULL, 10, 0), (3, 'FA3', '2026-11-01', 1, 1, 10, 0);
    INSERT INTO document_payments (id, document_type, document_id, currency_id, currency_rate, payment_date, amount)
    VALUES (1, 'invoice', 1, 1, NULL, '2026-11-21', 10), (2, 'invoice', 2, 2, 25, '2026-11-21', 100),
      (3, 'invoice', 3, 2, NULL, '2026-11-21', 100), (4, 'invoice', 3, 1, 1, '2026-11-21', 1)`);
  expect(rowsOf(db, "SELECT number, to_be_paid, to_be_paid_eur FROM month_open_items ORDER BY 1")).toEqual([
    { number: "FA1", to_be_paid: 250, to_be_paid_eur: 10 },
    { number: "FA2", to_be_paid: 4, to_be_paid_eur: 4 },
    { number: "FA3", to_be_paid: null, to_be_paid_eur: null },
  ]);
});
