import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { questions } from "../../connectors/fintoro/report/questions.ts";
import type { Db } from "../../src/store/database.ts";
import { emptySummary, rowsOf } from "../support/export/published.ts";
import * as re from "../support/export/recount.ts";

interface Line {
  readonly net: number;
  readonly gross: number;
  readonly rate: number;
}

interface Document {
  readonly net: number;
  readonly gross: number;
  readonly rate: number;
  readonly reverse: boolean;
  readonly lines: readonly Line[];
}

const vatRate = fc.constantFrom(0, 5, 10, 19, 20, 23);
const rate = fc.oneof(
  fc.constantFrom(1, 2, 0.4, 1.6, 25, 25.1, 0.8, 390.45),
  fc.integer({ min: 2_500, max: 4_000_000 }).map((n) => n / 10_000),
);
const head = { rate, reverse: fc.boolean() };

/** Documents whose totals are independent of their lines, of either sign, with lines that may add up to zero. */
const cents = fc.oneof(fc.integer({ min: -200_000, max: 200_000 }), fc.constant(0));
const smallLine = fc.record({ net: cents, gross: cents, rate: vatRate });
const odd = fc.record({ ...head, net: cents, gross: cents, lines: fc.array(smallLine, { maxLength: 6 }) });

/** Amounts of up to eleven digits before the point, less a discount; a double is not exact to the cent beyond. */
const large = fc.integer({ min: 1, max: 9_999_999_999_999 });
const largeLine = fc.record({ net: large, gross: large, rate: vatRate });
const huge = fc
  .record({
    ...head,
    rate: fc.constantFrom(1, 2, 25, 25.1, 390.45),
    lines: fc.array(largeLine, { minLength: 1, maxLength: 6 }),
    off: fc.integer({ min: 0, max: 100 }),
  })
  .map(({ off, ...document }) => {
    const less = (field: "net" | "gross") =>
      Math.round((document.lines.reduce((sum, line) => sum + line[field], 0) / 100) * (100 - off));
    return { ...document, net: less("net"), gross: less("gross") };
  });
const plain: Document = { net: 100, gross: 123, rate: 1, reverse: false, lines: [] };
const anyDocument = fc.oneof(odd, huge);

function fill(db: Db, documents: readonly Document[]): void {
  db.exec("DELETE FROM invoices; DELETE FROM invoice_items");
  const invoice = db.prepare(
    "INSERT INTO invoices (id, number, issue_date, delivery_date, client_id, currency_id, currency_rate, transfer_tax_liability, total, total_with_vat, to_be_paid) VALUES (?, ?, '2026-03-01', '2026-02-28', 1, 1, ?, ?, ?, ?, 0)",
  );
  const item = db.prepare(
    "INSERT INTO invoice_items (invoice_id, position, vat_rate, total, total_with_vat) VALUES (?, ?, ?, ?, ?)",
  );
  for (const [id, { net, gross, rate: units, reverse, lines }] of documents.entries()) {
    invoice.run(id, `FA${id}`, units, Number(reverse), net / 100, gross / 100);
    for (const [position, one] of lines.entries())
      item.run(id, position, one.rate, one.net / 100, one.gross / 100);
  }
}

function answerOf(db: Db, question: string, parameters: object = {}): unknown[] {
  return db.prepare(questions.find(({ name }) => name === question)?.sql ?? "").all(parameters);
}

const totals = (rows: readonly re.Row[], ...columns: readonly string[]) =>
  re.sum(rows.flatMap((row) => columns.map((column) => re.cents(row[column]))));

/** Net, gross and net in EUR, of documents and of rows of a view. */
const sumsOf = (all: readonly Document[]) => [
  re.sum(all.map((one) => BigInt(one.net))),
  re.sum(all.map((one) => BigInt(one.gross))),
  re.sum(all.map((one) => re.euro(BigInt(one.net), one.rate))),
];
const revenueOf = (rows: readonly re.Row[]) =>
  ["revenue", "revenue_with_vat", "revenue_eur"].map((column) => totals(rows, column));

/** Compares exactly, in millionths of a cent of the document's currency. */
function expectShares(rows: readonly re.Row[], column: string, { rate: units }: Document): void {
  for (const row of rows) {
    const perEuro = re.scaled(units, 6);
    const off = re.cents(row[`${column}_eur`]) * perEuro - re.cents(row[column]) * 1_000_000n;
    expect([column, row, off <= perEuro && -off <= perEuro]).toEqual([column, row, true]);
  }
}

describe("for any documents", () => {
  test("revenue, VAT by rate and lines sold add up to the documents' totals to the cent, in the currency and in EUR", () => {
    const db = emptySummary();
    fc.assert(
      fc.property(fc.array(anyDocument, { minLength: 1, maxLength: 5 }), (documents) => {
        fill(db, documents);
        const [net, gross, euro] = sumsOf(documents);
        const revenue = rowsOf(db, "SELECT * FROM v_revenue_by_month");
        expect(revenueOf(revenue)).toEqual([net, gross, euro]);
        const vat = rowsOf(db, "SELECT * FROM v_vat_by_month");
        expect(totals(vat, "base", "reverse_charge")).toBe(net);
        expect(totals(vat, "base", "reverse_charge", "vat")).toBe(gross);
        expect(totals(vat, "base_eur", "reverse_charge_eur")).toBe(euro);
        const withLines = documents.filter(({ lines }) => lines.length > 0);
        const lines = rowsOf(db, "SELECT revenue, revenue_with_vat, revenue_eur FROM v_sales_lines");
        expect(revenueOf(lines)).toEqual(sumsOf(withLines));
      }),
      { numRuns: 80 },
    );
  });

  test("a line's share in EUR is within a cent of its share divided by the document's rate, also where lines add up to zero", () => {
    const db = emptySummary();
    const balanced = odd.map(({ lines, ...document }) => {
      const back = lines.map(({ net, gross, ...line }) => ({ ...line, net: 0 - net, gross: 0 - gross }));
      return { ...document, net: 0, gross: 0, lines: [...lines, ...back] };
    });
    const whole = odd.map((document) => ({
      ...document,
      net: document.lines.reduce((sum, { net }) => sum + net, 0),
      gross: document.lines.reduce((sum, { gross }) => sum + gross, 0),
    }));
    const documents = fc.array(fc.oneof(odd, balanced, whole), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(documents, (all) => {
        fill(db, all);
        const sales = rowsOf(db, "SELECT * FROM v_sales_lines ORDER BY document_id, position");
        const vat = rowsOf(db, "SELECT * FROM v_vat_documents");
        for (const [id, document] of all.entries()) {
          const lines = sales.filter((row) => row["document_id"] === id);
          const rates = vat.filter((row) => row["document_id"] === id);
          for (const column of ["revenue", "revenue_with_vat"]) expectShares(lines, column, document);
          for (const column of ["base", "vat"]) expectShares(rates, column, document);
          const inEuro = (amount: number) => re.euro(BigInt(amount), document.rate);
          expect(totals(rates, "base_eur")).toBe(inEuro(document.net));
          expect(totals(rates, "base_eur", "vat_eur")).toBe(inEuro(document.gross));
          const nets = document.lines.map(({ net }) => net);
          if (nets.reduce((sum, net) => sum + net, 0) === document.net)
            expect(lines.map((row) => row["revenue"])).toEqual(nets.map((net) => net / 100));
        }
      }),
      { numRuns: 80 },
    );
  });

  test("a sum in EUR is null, never a partial sum, if the rate of one document is unknown", () => {
    const db = emptySummary();
    fill(db, [plain, plain]);
    db.exec("UPDATE invoices SET currency_id = 2");
    db.exec("UPDATE invoices SET currency_rate = NULL, to_be_paid = 1 WHERE id = 1");
    const unknown = {
      v_revenue_by_month: { revenue: 2, revenue_eur: null },
      v_vat_by_month: { base: 2, base_eur: null, vat_eur: null, reverse_charge_eur: null },
      v_receivables: { to_be_paid: 1, to_be_paid_eur: null },
      v_client_summary: { revenue: 2, revenue_eur: null, to_be_paid_eur: null },
    };
    for (const [view, row] of Object.entries(unknown))
      expect(rowsOf(db, `SELECT * FROM ${view}`)).toMatchObject([row]);
  });

  test("an answer in EUR over several currencies is null, never a partial sum, if the rate of one document is unknown", () => {
    const db = emptySummary();
    fill(db, [plain, plain]);
    db.exec("UPDATE invoices SET currency_id = 2, currency_rate = NULL WHERE id = 1");
    expect(answerOf(db, "best_clients")).toMatchObject([{ invoices: 2, revenue_eur: null }]);
    const vat = answerOf(db, "vat_of_month", { month: "2026-02" });
    expect(vat).toMatchObject([{ documents: 2, vat_eur: null }]);
  });

  test("what sells best counts what was sold less what credit notes took back, and no advance", () => {
    const db = emptySummary();
    fill(db, [
      { ...plain, lines: [{ net: 100, gross: 123, rate: 23 }] },
      { ...plain, lines: [{ net: 100, gross: 123, rate: 23 }] },
    ]);
    db.exec(`UPDATE invoices SET type = 'payment_receipt' WHERE id = 1;
      UPDATE invoice_items SET price_list_item_id = 7, quantity = 10;
      INSERT INTO credit_notes (id, issue_date, currency_id, currency_rate, total, total_with_vat)
        VALUES (5, '2026-03-02', 1, 1, -0.4, -0.49);
      INSERT INTO credit_note_items (credit_note_id, position, price_list_item_id, quantity, unit_price, total, total_with_vat)
        VALUES (5, 0, 7, 4, -0.1, -0.4, -0.49)`);
    const sold = answerOf(db, "best_items", { from_day: "2026-01-01" });
    expect(sold).toMatchObject([{ quantity: 6, revenue_eur: 0.6 }]);
  });

  test("a number written by hand makes no gap, though it is as long as the series' own", () => {
    const db = emptySummary();
    db.exec(`INSERT INTO numerical_series (id, pattern) VALUES (1, 'D[(RRRR)(CCC)/A');
      INSERT INTO orders (id, numerical_series_id, number) VALUES (1, 1, 'D[2026001/A'), (2, 1, 'D[2026003/A'),
        (3, 1, 'HAND/6007/A'), (4, 1, 'HAND/6009/A'), (5, 1, 'D[2026009/B'), (6, 1, 'D[2026011/B')`);
    const gaps = [{ after_number: "D[2026001/A", before_number: "D[2026003/A", missing: 1 }];
    expect(rowsOf(db, "SELECT after_number, before_number, missing FROM v_number_gaps")).toEqual(gaps);
  });

  test("what was issued to a client says in which currency", () => {
    const db = emptySummary();
    fill(db, [plain]);
    db.exec("UPDATE invoices SET client_name = 'Ann'");
    const issued = answerOf(db, "documents_of_client", { client: "ann" });
    expect(issued).toMatchObject([{ client_name: "Ann", currency: "EUR" }]);
  });

  test("a document in EUR whose detail is not read yet has no rate, and counts with 1", () => {
    const db = emptySummary();
    fill(db, [plain]);
    db.exec("UPDATE invoices SET currency_rate = NULL, to_be_paid = 1");
    const revenue = { revenue: 1, revenue_eur: 1 };
    expect(rowsOf(db, "SELECT * FROM v_revenue_by_month")).toMatchObject([revenue]);
    const owed = { to_be_paid: 1, to_be_paid_eur: 1 };
    expect(rowsOf(db, "SELECT * FROM v_receivables")).toMatchObject([owed]);
  });

  test("a paid proforma whose payments are not read yet is not called unpaid", () => {
    const db = emptySummary();
    db.exec("INSERT INTO proformas (id, total_with_vat, to_be_paid) VALUES (1, 246, 0), (2, 246, 246)");
    const rows = rowsOf(db, "SELECT settlement FROM v_proformas ORDER BY proforma_id");
    expect(rows.map(({ settlement }) => settlement)).toEqual([null, "not paid"]);
  });

  test("a credit note whose detail is not read yet is not judged for electronic invoices", () => {
    const db = emptySummary();
    const today = "(SELECT value FROM _about WHERE subject = 'report' AND fact = 'report_date')";
    db.exec(`INSERT INTO credit_notes (id, number, issue_date) VALUES (1, 'D1', ${today})`);
    expect(rowsOf(db, "SELECT term FROM v_einvoice_gaps WHERE document_id = 1")).toEqual([]);
    db.exec("UPDATE credit_notes SET currency_rate = 1");
    expect(rowsOf(db, "SELECT term FROM v_einvoice_gaps WHERE document_id = 1")).toEqual([
      { term: "delivery_date" },
    ]);
  });
});
