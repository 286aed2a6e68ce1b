import { onTestFinished, expect, test } from "vitest";
import { declaration } from "../../connectors/fintoro/declaration.ts";
import { accountantMonth } from "../../connectors/fintoro/accountant-month.ts";
import { tableSql } from "../../src/report/report-layout.ts";
import { openDatabase, type Db } from "../../src/store/database.ts";
import { emptySummary, rowsOf } from "../support/export/published.ts";
import { tablesOfConnector } from "../../src/store/snapshot/snapshot-tables.ts";

const tables = tablesOfConnector(declaration).filter(({ kind }) => kind !== "view");
const views = [...(declaration.views ?? []), ...accountantMonth.sheets];

/**
 * The tables without an index but their key, as a mirror has them, behind views that count each row that SQLite looks
 * at, and the connector's views of those.
 */
function countingDatabase(): { readonly db: Db; readonly rowsLookedAt: (view: string) => number } {
  const db = openDatabase(":memory:");
  onTestFinished(() => void db.close());
  let looks = 0;
  db.function("is_looked_at", { deterministic: false }, () => (looks++, 1));
  for (const table of tables) {
    db.exec(tableSql(table));
    db.exec(`CREATE TEMP VIEW ${table.name} AS SELECT * FROM main.${table.name} WHERE is_looked_at()`);
  }
  db.exec("CREATE TABLE _about (subject TEXT, fact TEXT, value TEXT)");
  db.exec("INSERT INTO _about VALUES ('report', 'report_date', '2026-11-20')");
  for (const { name, sql } of views) db.exec(`CREATE TEMP VIEW ${name} AS ${sql}`);
  const rowsLookedAt = (view: string) => {
    looks = 0;
    db.prepare(`SELECT * FROM ${view}`).all();
    return looks;
  };
  return { db, rowsLookedAt };
}

/** SQL of a column's value in row `n`: ids lead to row `n` of another table, or to one row for all. */
function valueOf(name: string, type: string, isShared: (column: string) => boolean): string {
  if (name === "status") return "'unpaid'";
  if (name === "document_type") return "iif(n % 2, 'invoice', 'proforma')";
  if (name === "number") return "'FA2026' || printf('%08d', n)";
  if (name === "pattern") return "'FA(RRRR)(CCCCCCCC)'";
  if (type === "DATE") return "date('2025-01-01', '+' || (n % 500) || ' days')";
  if (type === "TIMESTAMP" || type === "TEXT") return `'${name}'`;
  if (name === "to_be_paid") return "n % 5 - 2";
  return name.endsWith("id") ? (isShared(name) ? "1" : "n") : "n % 7";
}

/** Fills every table with `rows` rows; what `isShared` names leads to one record for all of them. */
function fill(db: Db, rows: number, isShared: (column: string) => boolean): void {
  for (const { name, columns } of tables) {
    db.exec(`DELETE FROM main.${name}`);
    const values = columns.map((column) =>
      ["id", "position"].includes(column.name) ? "n" : valueOf(column.name, column.type, isShared),
    );
    db.exec(`WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ${rows})
      INSERT INTO main.${name} SELECT ${values.join(", ")} FROM number`);
  }
}

const shapes: readonly (readonly [string, (column: string) => boolean])[] = [
  ["documents, each with a line, a payment and a client of its own", () => false],
  [
    "lines, payments and credit notes of one document",
    (column) => /^(invoice|credit_note|proforma|document|receipt_invoice)_id$/.test(column),
  ],
  [
    "documents of one client, one currency and one business case",
    (column) => /(client|currency|business_case|series|supplier)_id$/.test(column),
  ],
];

test.each(shapes)(
  "the work of a view, in rows that SQLite looks at, doubles at most with twice the %s",
  (_, isShared) => {
    const { db, rowsLookedAt } = countingDatabase();
    const looks = (rows: number) => {
      fill(db, rows, isShared);
      return views.map(({ name }) => rowsLookedAt(name));
    };
    const [less, more] = [looks(60), looks(120)];
    const steeper = views.filter((_view, i) => (more[i] ?? 0) > 2.3 * (less[i] ?? 0) + 20);
    expect(steeper.map(({ name }) => name)).toEqual([]);
    expect(Math.min(...more)).toBeGreaterThan(0);
  },
);

test("views pass a filter on a document or its client to the tables, and search for no column that a query leaves out", () => {
  const db = emptySummary();
  for (const table of ["invoices", "credit_notes"])
    db.exec(`CREATE INDEX ${table}_by_client ON ${table} (client_id)`);
  const plan = (sql: string) =>
    rowsOf(db, `EXPLAIN QUERY PLAN ${sql}`)
      .map(({ detail }) => detail)
      .join("\n");
  for (const filter of ["document_id = 5", "client_id = 5"])
    expect(plan(`SELECT * FROM v_sales_lines WHERE ${filter}`)).not.toMatch(/^SCAN [id]\b/m);
  expect(plan("SELECT sum(total) FROM v_sales_lines")).not.toContain("CORRELATED");
});

const words = views.flatMap(({ sql }) => sql.match(/\b[a-z][a-z_]*\b/g) ?? []);

test("fields that the service adds break no view, though they have the names of all columns that views use", () => {
  using db = openDatabase(":memory:");
  for (const { name, columns } of tables) {
    const all = new Set([...columns.map((column) => column.name), ...words]);
    db.exec(`CREATE TABLE ${name} (${[...all].map((column) => `"${column}"`).join(", ")})`);
  }
  db.exec("CREATE TABLE _about (subject, fact, value)");
  for (const { name, sql } of views) db.exec(`CREATE VIEW ${name} AS ${sql}`);
  for (const { name } of views) expect(() => db.prepare(`SELECT * FROM ${name}`), name).not.toThrow();
});
