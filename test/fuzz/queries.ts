import assert from "node:assert/strict";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import * as fc from "fast-check";
import { MirrorError } from "../../src/base/errors.ts";
import { answerOf, openBooks } from "../../src/mcp/report-query.ts";
import { openDatabase } from "../../src/store/database.ts";
import { memoryScratch } from "../support/memory-folder.ts";
import { fuzzTarget, type AtEnd } from "./fuzz-target.ts";

/** A report of two tables and a view, beside a file that nobody may read. */
export function smallReport(atEnd: AtEnd) {
  const { path: folder, remove } = memoryScratch();
  atEnd(remove);
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
    const books = openBooks(file, { orders: ["id", "total"] });
    try {
      return answerOf(books, sql, ["orders"]);
    } finally {
      books.close();
    }
  };
  const expectUntouched = () => {
    assert.equal(listing(), before.files);
    assert.ok(readFileSync(file).equals(before.bytes), "the report was written");
  };
  return { ask, expectUntouched };
}

const words = `SELECT | WITH x AS ( | ) | FROM | orders | v_orders | main. | temp. | * | note | , | ; | ( | '
    ATTACH | 'other.db' | AS o | VACUUM INTO | 'copy.db' | PRAGMA | query_only=0 | DELETE FROM | RETURNING id | UNION ALL
    VALUES (1) | load_extension('x') | secrets | o.secrets | journal_mode=WAL | 1 | -- | /* | */`.split(
  / \| |\n\s+/,
);
const statement = fc.array(fc.constantFrom(...words), { maxLength: 9 }).map((some) => some.join(" "));

/** Questions of an assistant. */
export const statementsOfAssistants = fuzzTarget("queries/statements", {
  runs: 150,
  input: fc.oneof(
    { weight: 2, arbitrary: statement },
    statement.map((one) => `SELECT ${one}`),
  ),
  open: (atEnd) => {
    const { ask, expectUntouched } = smallReport(atEnd);
    atEnd(expectUntouched);
    return (sql) => {
      try {
        const answer = ask(sql);
        assert.equal(answer.as_of, "2026-11-20T01:00:00.000Z");
        assert.doesNotMatch(JSON.stringify(answer.rows), /hidden/);
      } catch (error) {
        if (!(error instanceof MirrorError)) throw error;
      }
    };
  },
});
