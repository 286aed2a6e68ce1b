import { randomBytes } from "node:crypto";
import { messageOf, MirrorError } from "../base/errors.ts";
import { incompleteTables } from "../report/report-file.ts";
import { assertThere, openDatabase, type Db, type OwnedDb, type Statement } from "../store/database.ts";
import { quoted } from "../store/sql-text.ts";

/** By table: the only columns that are shown; of a table that is not here all are. */
export type ShownColumns = Readonly<Record<string, readonly string[]>>;

/**
 * Opens a report for questions from outside. Tables and views are temporary views under their own names, over a database
 * whose name nobody knows: hidden columns are null however a question asks for them.
 *
 * Guarantee: a statement of `runQuery` writes nothing and reads no other file.
 * Source of truth: the report's file.
 * Worst outcome of a crash: none, because nothing is stored.
 *
 * @throws MirrorError `database`: there is no report, or it cannot be read
 */
export function openBooks(report: string, only: ShownColumns): OwnedDb {
  // A database that is attached and not there would be made.
  const hint = "Run `fintoro-mirror publish` first, with --combined for the one over all companies.";
  assertThere(report, "there is no report to answer from", hint);
  const db = openDatabase(":memory:");
  try {
    const name = `books_${randomBytes(12).toString("hex")}`;
    db.prepare(`ATTACH ? AS ${name}`).run(report);
    db.exec("BEGIN");
    const objects = `SELECT name, type, sql FROM ${name}.sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite%' ORDER BY type, rowid`;
    for (const one of db.prepare(objects).all() as { name: string; type: string; sql: string }[])
      db.exec(
        one.type === "view"
          ? one.sql.replace(/^CREATE VIEW/, "CREATE TEMP VIEW")
          : shown(db, name, one.name, only[one.name]),
      );
    db.pragma("query_only = ON");
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function shown(db: Db, books: string, table: string, only: readonly string[] | undefined): string {
  const columns = db
    .prepare("SELECT name FROM pragma_table_info(?, ?)")
    .pluck()
    .all(table, books) as string[];
  const cells = columns.map((name) =>
    !only || only.includes(name) ? quoted(name) : `NULL AS ${quoted(name)}`,
  );
  return `CREATE TEMP VIEW ${quoted(table)} AS SELECT ${cells.join(", ")} FROM ${books}.${quoted(table)}`;
}

const opening = /^(?:\s|--[^\n]*\n|\/\*[\s\S]*?\*\/)*(?:SELECT|WITH|VALUES)\b/i;
/** What says how the connection is made, or changes it. */
const ofConnection = /sqlite_|pragma_/i;

/**
 * Runs a question with `read`. A statement that SQLite calls a reader can still write (`VACUUM INTO`), read another file
 * (`ATTACH`) or change the connection (`PRAGMA`): only queries are left.
 *
 * @throws MirrorError `usage`: it is more than one statement, no query, or fails
 */
function runQuery<T>(db: Db, sql: string, read: (statement: Statement) => T): T {
  if (!opening.test(sql)) throw refused("only a query is answered: SELECT, WITH or VALUES");
  if (ofConnection.test(sql))
    throw refused("sqlite_ and pragma_ names are not answered: `describe` tells columns");
  try {
    const statement = db.prepare(sql);
    if (!statement.reader || !statement.readonly) throw refused("only what reads is answered");
    return read(statement);
  } catch (error) {
    throw error instanceof MirrorError ? error : refused(messageOf(error));
  }
}

function refused(what: string): MirrorError {
  return new MirrorError("usage", what, { hint: "One SELECT over what `views` names, with values in it." });
}

export type QueryAnswer = ReturnType<typeof answerOf>;

const mostRows = 1_000;
const mostCharacters = 50_000;
const longestValue = 5_000;

function freshnessOf(db: Db, mirrored: readonly string[]) {
  const sql = "SELECT min(value) FROM _about WHERE fact = ? AND subject IN (SELECT value FROM json_each(?))";
  const select = db.prepare<unknown[], string | null>(sql).pluck();
  const earliest = (fact: string, of: readonly string[]) => select.get(fact, JSON.stringify(of)) ?? null;
  return {
    /** When the table was read whole that was so longest ago, ISO; the earliest of all companies. */
    as_of: earliest("fresh_at", mirrored),
    published_at: earliest("published_at", ["report"]),
    incomplete_tables: [...new Set(incompleteTables(db))].filter((name) => mirrored.includes(name)),
  };
}

/** Answers a question with its first rows. `mirrored`: what the report is meant to have. @throws MirrorError `usage` as `runQuery` */
export function answerOf(db: Db, sql: string, mirrored: readonly string[]) {
  return { ...freshnessOf(db, mirrored), ...runQuery(db, sql, firstRows) };
}

/** `cut`: what was left out; null: nothing. */
function firstRows(statement: Statement) {
  const columns = statement.columns().map(({ name }) => name);
  const rows: unknown[][] = [];
  let characters = 0;
  for (const cells of statement.safeIntegers().raw().iterate() as IterableIterator<unknown[]>) {
    const row = cells.map(valueOf);
    characters += JSON.stringify(row).length;
    if (rows.length === mostRows) return { columns, rows, cut: `only the first ${mostRows} rows` };
    if (characters > mostCharacters)
      return { columns, rows, cut: `only the first ${rows.length} rows: ${mostCharacters} characters` };
    rows.push(row);
  }
  return { columns, rows, cut: null };
}

/** A number that JSON cannot hold exactly is text. */
function valueOf(cell: unknown): unknown {
  if (typeof cell === "bigint") return Number.isSafeInteger(Number(cell)) ? Number(cell) : String(cell);
  if (typeof cell === "string" && cell.length > longestValue)
    return `${cell.slice(0, longestValue)}… (${cell.length} characters)`;
  return Buffer.isBuffer(cell) ? `${cell.length} bytes` : cell;
}
