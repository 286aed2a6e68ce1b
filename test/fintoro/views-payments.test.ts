import { expect, test } from "vitest";
import { accountantMonth } from "../../connectors/fintoro/accountant-month.ts";
import type { Db } from "../../src/store/database.ts";
import { emptySummary, rowsOf } from "../support/export/published.ts";

/** A report with CZK as currency 2, and the sheets of the accountant's month; its date is 2026-11-20. */
function monthReport(): Db {
  const db = emptySummary();
  for (const { name, sql } of accountantMonth.sheets) db.exec(`CREATE VIEW ${name} AS ${sql}`);
  db.exec("INSERT INTO currencies (id, symbol) VALUES (2, 'CZK')");
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
