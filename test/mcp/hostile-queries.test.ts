import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { MirrorError } from "../../src/base/errors.ts";
import { answerOf, openBooks } from "../../src/mcp/report-query.ts";
import { openDatabase } from "../../src/store/database.ts";
import { tempFolder } from "../support/temporary-folder.ts";

/** A report of two tables and a view, beside a file that nobody may read. */
function aReport() {
  const folder = tempFolder();
  writeFileSync(path.join(folder, "secret.txt"), "a hidden token");
  const file = path.join(folder, "acme.report.db");
  const db = openDatabase(file);
  db.exec(`CREATE TABLE _about (subject TEXT, fact TEXT, value TEXT);
    INSERT INTO _about VALUES ('report', 'published_at', '2026-11-21T08:00:00.000Z'), ('orders', 'complete', 'no'),
      ('orders', 'fresh_at', '2026-11-20T01:00:00.000Z'), ('others', 'fresh_at', '2025-01-01T00:00:00.000Z'), ('others', 'complete', 'no');
    CREATE TABLE orders (id INTEGER PRIMARY KEY, total REAL, note TEXT);
    INSERT INTO orders VALUES (1, 10.5, 'a hidden note'), (2, 20, NULL);
    CREATE VIEW v_orders AS SELECT note, sum(total) AS total FROM orders`);
  db.pragma("journal_mode = DELETE");
  db.close();
  const other = openDatabase(path.join(folder, "other.db"));
  other.exec("CREATE TABLE secrets (value TEXT); INSERT INTO secrets VALUES ('a hidden secret')");
  other.close();
  const listing = () => readdirSync(folder).toSorted().join(" ");
  const before = { bytes: readFileSync(file), files: listing() };
  const ask = (sql: string) => {
    using books = openBooks(file, { orders: ["id", "total"] });
    return answerOf(books, sql, ["orders"]);
  };
  const expectUntouched = () => {
    expect(listing()).toBe(before.files);
    expect(readFileSync(file).equals(before.bytes)).toBe(true);
  };
  return { ask, expectUntouched };
}

const refused = [
  "ATTACH 'other.db' AS o",
  "VACUUM INTO 'copy.db'",
  "PRAGMA query_only = OFF",
  "PRAGMA database_list",
  "SELECT * FROM pragma_database_list",
  "SELECT sql FROM sqlite_temp_schema",
  'SELECT sql FROM "SQLITE_MASTER"',
  "DELETE FROM orders RETURNING id",
  "WITH x AS (SELECT 1) DELETE FROM orders RETURNING id",
  "WITH x AS (SELECT 1) INSERT INTO orders SELECT 3, 1, '' RETURNING id",
  "SELECT 1; DROP TABLE orders",
  "SELECT 1; SELECT 2",
  "EXPLAIN SELECT * FROM orders",
  "CREATE TABLE x (a)",
  "BEGIN IMMEDIATE",
  "SELECT load_extension('x')",
  "SELECT readfile('secret.txt')",
  "SELECT writefile('x', 'y')",
  "SELECT fts3_tokenizer('simple', x'00')",
  "",
  "-- nothing",
  "SELECT",
  "/* SELECT 1 */ PRAGMA user_version",
];

test("a statement that writes, reads another file or changes the connection is refused, and nothing changed", () => {
  const { ask, expectUntouched } = aReport();
  for (const sql of refused) {
    expect(() => ask(sql), sql).toThrow(MirrorError);
    expectUntouched();
  }
});

test("a query sees the report, with hidden columns empty in tables and views, whatever it calls them", () => {
  const { ask } = aReport();
  expect(ask("SELECT * FROM orders")).toEqual({
    as_of: "2026-11-20T01:00:00.000Z",
    published_at: "2026-11-21T08:00:00.000Z",
    incomplete_tables: ["orders"],
    columns: ["id", "total", "note"],
    rows: [
      [1, 10.5, null],
      [2, 20, null],
    ],
    cut: null,
  });
  expect(ask("/* a */ -- b\n select * from v_orders").rows).toEqual([[null, 30.5]]);
  expect(ask('SELECT (SELECT group_concat("note") FROM temp.orders), 9007199254740993').rows).toEqual([
    [null, "9007199254740993"],
  ]);
  expect(() => ask("SELECT note FROM main.orders")).toThrow(/no such table/);
});

test("a report that is not there is refused, and not made", () => {
  const folder = tempFolder();
  expect(() => openBooks(path.join(folder, "acme.report.db"), {})).toThrow(/there is no report/);
  expect(readdirSync(folder)).toEqual([]);
});
