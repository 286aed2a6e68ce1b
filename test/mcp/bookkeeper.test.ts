import path from "node:path";
import { expect, test } from "vitest";
import { answerOf, openBooks } from "../../src/mcp/report-query.ts";
import { emptySummary } from "../support/export/published.ts";
import { temporaryFolder } from "../support/program/cli.ts";

/**
 * The books of a small company on 20 November 2026, where VAT is 23 %. Alfa pays late and has a credit note, Beta owes,
 * Gama is billed in CZK, 25 for a euro, without VAT. FA2026007 will not be paid; FA2026008 is the receipt of an advance.
 */
const books = `
  INSERT INTO payment_methods (id, name) VALUES (1, 'transfer'), (2, 'cash');
  INSERT INTO clients (id, name, city) VALUES (1, 'Alfa', 'Nitra'), (2, 'Beta', 'Martin'), (3, 'Gama', 'Brno'), (4, 'Delta', 'Nitra');
  INSERT INTO numerical_series (id, document_type, name, pattern) VALUES (1, 'invoice', 'Invoices', 'FA(RRRR)(CCC)');
  INSERT INTO business_case_statuses (id, name) VALUES (1, 'won');
  INSERT INTO business_cases (id, client_id, name, status_id) VALUES (1, 1, 'New office', 1);
  INSERT INTO price_list_items (id, name, purchase_price, use_warehouse, stock) VALUES (1, 'Work', NULL, 0, NULL), (2, 'Desk', 120, 1, 4), (3, 'Chair', 20.5, 1, 10);
  INSERT INTO warehouses (id, name) VALUES (1, 'Main');
  INSERT INTO price_list_item_stocks (price_list_item_id, position, warehouse_id, stock_quantity) VALUES (2, 0, 1, 4), (3, 0, 1, 10);
  INSERT INTO invoices (id, number, type, status, issue_date, delivery_date, due_date, client_id, currency_id, currency_rate, transfer_tax_liability, total, total_with_vat, to_be_paid, business_case_id, numerical_series_id) VALUES
    (1, 'FA2026001', 'invoice', 'paid',             '2026-08-05', '2026-08-05', '2026-08-19', 1, 1, 1,  0, 1000,   1230,   0,      1,    1),
    (2, 'FA2026002', 'invoice', 'overdue',          '2026-09-10', '2026-09-10', '2026-09-24', 2, 1, 1,  0, 250.50, 308.12, 308.12, NULL, 1),
    (3, 'FA2026003', 'invoice', 'partially_paid',   '2026-10-01', '2026-09-30', '2026-10-15', 1, 1, 1,  0, 400,    492,    192,    NULL, 1),
    (4, 'FA2026004', 'invoice', 'overdue',          '2026-10-20', '2026-10-20', '2026-11-03', 3, 2, 25, 1, 25000,  25000,  25000,  NULL, 1),
    (5, 'FA2026005', 'invoice', 'unpaid',           '2026-11-10', '2026-11-10', '2026-11-24', 2, 1, 1,  0, 99.99,  122.99, 122.99, NULL, 1),
    (6, 'FA2026007', 'invoice', 'will_not_be_paid', '2026-07-01', '2026-07-01', '2026-07-15', 2, 1, 1,  0, 80,     98.40,  98.40,  NULL, 1),
    (7, 'FA2026008', 'payment_receipt', 'paid',     '2026-10-05', '2026-10-05', '2026-10-05', 1, 1, 1,  0, 200,    246,    0,      NULL, 1);
  INSERT INTO invoice_items (invoice_id, position, name, price_list_item_id, quantity, vat_rate, total, total_with_vat) VALUES
    (1, 0, 'Work', 1, 10, 23, 1000, 1230), (2, 0, 'Desk', 2, 1, 23, 250.50, 308.12), (3, 0, 'Work', 1, 4, 23, 400, 492),
    (4, 0, 'Desk', 2, 100, 0, 25000, 25000), (5, 0, 'Lamp', NULL, 1, 23, 99.99, 122.99), (6, 0, 'Lamp', NULL, 1, 23, 80, 98.40), (7, 0, 'Advance', NULL, 1, 23, 200, 246);
  INSERT INTO credit_notes (id, number, invoice_id, client_id, status, issue_date, delivery_date, due_date, currency_id, currency_rate, total, total_with_vat, to_be_paid) VALUES
    (1, 'DB2026001', 1, 1, 'unpaid', '2026-11-02', '2026-11-02', '2026-11-16', 1, 1, -100, -123, -123);
  INSERT INTO credit_note_items (credit_note_id, position, name, price_list_item_id, quantity, vat_rate, total, total_with_vat) VALUES (1, 0, 'Work', 1, -1, 23, -100, -123);
  INSERT INTO proformas (id, number, status, issue_date, due_date, client_id, currency_id, total, total_with_vat, already_paid, to_be_paid) VALUES
    (1, 'ZF1', 'paid', '2026-10-02', '2026-10-09', 1, 1, 200, 246, 246, 0), (2, 'ZF2', 'overdue', '2026-11-01', '2026-11-15', 3, 2, 5000, 5000, 0, 5000),
    (3, 'ZF3', 'paid', '2026-11-10', '2026-11-17', 2, 1, 40.65, 50, 50, 0);
  INSERT INTO document_payments (id, document_type, document_id, payment_method_id, currency_id, currency_rate, payment_date, amount, receipt_invoice_id) VALUES
    (1, 'invoice', 1, 1, 1, 1, '2026-08-25', 1230, NULL), (2, 'invoice', 3, 2, 1, 1, '2026-10-12', 300, NULL),
    (3, 'proforma', 1, 1, 1, 1, '2026-10-05', 246, 7), (4, 'proforma', 3, 1, 1, 1, '2026-11-12', 50, NULL);
  INSERT INTO quotations (id, number, status, issue_date, validity_date, client_id, currency_id, total, total_with_vat, business_case_id) VALUES
    (1, 'CP1', 'accepted', '2026-07-20', '2026-08-20', 1, 1, 1000, 1230, 1), (2, 'CP2', 'rejected', '2026-10-01', '2026-10-31', 2, 1, 300, 369, NULL),
    (3, 'CP3', 'waiting', '2026-11-05', '2026-12-05', 3, 1, 500, 500, NULL), (4, 'CP4', 'waiting', '2026-10-05', '2026-11-05', 4, 1, 70.10, 86.22, NULL);
  INSERT INTO orders (id, number, issue_date, client_id, currency_id, total, total_with_vat, business_case_id) VALUES
    (1, 'OB1', '2026-08-01', 1, 1, 1000, 1230, 1), (2, 'OB2', '2026-11-18', 2, 1, 60.05, 73.86, NULL);
  INSERT INTO warehouse_inbound_receipts (id, number, supplier_name, supplier_subject_id, issue_date, currency_id, total, total_with_vat) VALUES
    (1, 'PR1', 'Wood Ltd', '1', '2026-06-01', 1, 12480, 15350.40), (2, 'PR2', 'Wood Ltd', '1', '2026-06-15', 1, 205, 252.15), (3, 'PR3', 'Paper Ltd', '2', '2026-10-10', 1, 19.90, 24.48);
  INSERT INTO warehouse_inbound_receipt_items (warehouse_inbound_receipt_id, position, price_list_item_id, quantity) VALUES (1, 0, 2, 104), (2, 0, 3, 10);`;

/** What a bookkeeper asks, the SQL, and the answer that a look at the rows above gives, as JSON. */
const questions = `
  What did we earn in October, in EUR? | SELECT sum(revenue_eur) FROM v_revenue_by_month WHERE month = '2026-10' | 1400
  And with VAT? | SELECT sum(revenue_with_vat_eur) FROM v_revenue_by_month WHERE month = '2026-10' | 1492
  What did we earn in November? | SELECT sum(revenue_eur) FROM v_revenue_by_month WHERE month = '2026-11' | -0.01
  What did we earn this year? | SELECT sum(revenue_eur) FROM v_revenue_by_year WHERE year = '2026' | 2730.49
  How much of it was billed in CZK? | SELECT revenue FROM v_revenue_by_year WHERE currency = 'CZK' | 25000
  Which advances were receipted in October? | SELECT receipted_advances_with_vat FROM v_revenue_by_month WHERE month = '2026-10' AND currency = 'EUR' | 246
  How much was credited in November? | SELECT sum(total) FROM credit_notes WHERE issue_date LIKE '2026-11-%' | -100
  What do clients owe us? | SELECT sum(to_be_paid_eur) FROM v_receivables | 1623.11
  How much of it is overdue? | SELECT sum(to_be_paid_eur) FROM v_open_invoices WHERE days_overdue > 0 | 1500.12
  How old is it? | SELECT age, sum(to_be_paid_eur) FROM v_receivables GROUP BY age ORDER BY age | [["1 to 30",1000],["31 to 60",500.12],["not due",122.99]]
  Who owes most? | SELECT client_name FROM v_receivables GROUP BY buyer ORDER BY sum(to_be_paid_eur) DESC LIMIT 1 | "Gama"
  What does Beta owe? | SELECT sum(to_be_paid) FROM v_receivables WHERE client_name = 'Beta' | 431.11
  Since when is FA2026002 overdue? | SELECT due_date, days_overdue FROM v_open_invoices WHERE number = 'FA2026002' | [["2026-09-24",57]]
  What falls due until the end of November? | SELECT sum(to_be_paid_eur) FROM v_open_invoices WHERE due_date BETWEEN '2026-11-20' AND '2026-11-30' | 122.99
  Which credit notes are open? | SELECT sum(credit_notes) FROM v_client_balance | 123
  What does Alfa owe when all is netted? | SELECT net FROM v_client_balance WHERE client_name = 'Alfa' | 69
  Which advances did no invoice settle yet? | SELECT client_name, advances FROM v_client_balance WHERE advances > 0 | [["Beta",50]]
  What did we give up? | SELECT number, written_off FROM v_write_offs | [["FA2026007",98.4]]
  How much output VAT is of August? | SELECT sum(vat_eur) FROM v_vat_by_month WHERE month = '2026-08' | 230
  And of September, by date of delivery? | SELECT sum(vat_eur) FROM v_vat_by_month WHERE month = '2026-09' | 149.62
  From which documents? | SELECT number, vat FROM v_vat_documents WHERE month = '2026-09' ORDER BY 1 | [["FA2026002",57.62],["FA2026003",92]]
  Which VAT of October is of advances? | SELECT sum(advance_vat_eur) FROM v_vat_by_month WHERE month = '2026-10' | 46
  What is without VAT because the buyer owes it? | SELECT sum(reverse_charge), sum(reverse_charge_eur) FROM v_vat_by_month | [[25000,1000]]
  How much VAT is of November? | SELECT sum(vat_eur) FROM v_vat_by_month WHERE month = '2026-11' | 0
  How long does Alfa take to pay? | SELECT average_days, paid_late FROM v_days_to_pay WHERE client_name = 'Alfa' | [[20,1]]
  What money came in October? | SELECT sum(amount_eur) FROM v_payments_by_day WHERE payment_date LIKE '2026-10-%' | 546
  How much of this year's money was cash? | SELECT sum(amount_eur) FROM v_payments_by_day WHERE payment_method = 'cash' | 300
  What came in this year? | SELECT sum(amount_eur) FROM v_payments_by_day | 1826
  Which proformas are unpaid? | SELECT number, currency, to_be_paid FROM v_unpaid_proformas | [["ZF2","CZK",5000]]
  What did Beta buy this year? | SELECT revenue FROM v_client_summary WHERE client_name = 'Beta' | 430.49
  Which clients bought nothing? | SELECT client_name FROM v_client_summary WHERE currency IS NULL | "Delta"
  What sold best? | SELECT name, sum(revenue_eur) FROM v_sales_lines GROUP BY name ORDER BY 2 DESC | [["Work",1300],["Desk",1250.5],["Lamp",179.99],["Advance",0]]
  How many desks were sold? | SELECT sum(quantity) FROM v_sales_lines WHERE price_list_item_name = 'Desk' | 101
  What is the stock worth? | SELECT sum(value) FROM v_stock | 685
  What lies and was never sold? | SELECT name, value FROM v_slow_stock WHERE last_sold IS NULL | [["Chair",205]]
  How many quotations that were answered were accepted, in percent? | SELECT round(100.0 * sum(accepted) / sum(accepted + rejected), 1) FROM v_pipeline | 50
  Which quotations ran out unanswered? | SELECT number, total FROM v_quotations WHERE outcome = 'expired' | [["CP4",70.1]]
  What was ordered in November? | SELECT ordered FROM v_pipeline WHERE month = '2026-11' | 60.05
  What is the won business case worth? | SELECT quoted, ordered, invoiced FROM v_business_cases_by_status WHERE status = 'won' | [[1000,1000,1000]]
  What did we buy from Wood Ltd? | SELECT total FROM v_purchases_by_supplier WHERE supplier_name = 'Wood Ltd' | 12685
  Which invoice number is missing? | SELECT after_number, first_missing, missing FROM v_number_gaps | [["FA2026005",6,1]]
  Which invoice was the largest? | SELECT number, total_with_vat_eur FROM v_invoices ORDER BY 2 DESC LIMIT 1 | [["FA2026001",1230]]`
  .trim()
  .split("\n")
  .map((line) => line.split(" | ").map((part) => part.trim()));

test("forty questions of a bookkeeper have their answers to the cent", () => {
  const file = path.join(temporaryFolder(), "acme.report.db");
  const db = emptySummary();
  db.exec(books);
  db.prepare("VACUUM INTO ?").run(file);
  using report = openBooks(file, {});
  const answers = questions.map(([question, sql = ""]) => {
    const { rows } = answerOf(report, sql, []);
    const isOne = rows.length === 1 && rows[0]?.length === 1;
    return { question, answer: isOne ? rows[0]?.[0] : rows };
  });
  const expected = questions.map(([question, , text = ""]) => ({
    question,
    answer: JSON.parse(text) as unknown,
  }));
  expect(answers).toEqual(expected);
  expect(questions.length).toBeGreaterThanOrEqual(40);
});
