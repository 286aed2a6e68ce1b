import { hash } from "node:crypto";
import { statSync } from "node:fs";
import { MirrorError, valueOr } from "../base/errors.ts";
import { openDatabase, readDatabase, type Db } from "../store/database.ts";
import { quoted } from "../store/sql-text.ts";
import { pause } from "./build-report.ts";
import {
  assertSoundReport,
  attachReport,
  nextOf,
  pageSizeFor,
  publishFile,
  removeNext,
} from "./report-file.ts";
import { indexSql } from "./report-layout.ts";

interface CombineParts {
  /** Published reports, by the companies' names in the config. */
  readonly reports: readonly { readonly company: string; readonly file: string }[];
  /** Companies that should be in it and are not. */
  readonly missing: readonly string[];
  readonly combined: string;
  /** Of the file; null: as the last one. */
  readonly mode: number | null;
  /** Write it even if no report changed. @default false */
  readonly force?: boolean;
  readonly signal: AbortSignal;
}

/** A publish that replaces a report at the same time is met this often at most. */
const maxAttempts = 5;

/**
 * Makes one report of the reports of several companies: each table and view with a column `company`. Of each company it
 * has one state of its mirror; the same reports give the same bytes. See `publishFile`.
 *
 * @throws MirrorError `locked`, `stopped` or `database`
 */
export function combineReports(parts: CombineParts) {
  const { combined: file, mode, missing } = parts;
  const reports = parts.reports.toSorted((a, b) => (a.company < b.company ? -1 : 1));
  return publishFile(file, mode, async (isAsPublished) => {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      removeNext(file);
      const sources = stateOfReports(reports, missing);
      if (isAsPublished && !parts.force && sources === sourcesOf(file)) return false;
      if (await writeCombined({ ...parts, reports }, sources)) return true;
    }
    throw new MirrorError("database", "the companies' reports change too fast to be combined", {
      hint: "Run it again, or after the sync that is writing.",
    });
  });
}

/** Changes when any report was written anew, because its `_about` has the time. */
function stateOfReports(reports: CombineParts["reports"], missing: readonly string[]): string {
  const sql = "SELECT * FROM _about ORDER BY subject, fact";
  const facts = reports.map(({ company, file }) =>
    readDatabase(file, (db) => [company, db.prepare(sql).raw().all()]),
  );
  return hash("sha256", JSON.stringify([combinedVersion, missing.toSorted(), facts]), "hex").slice(0, 32);
}

/** To be raised when the same reports are combined in another way. */
const combinedVersion = 1;

/** What the combined report was made of; null: it cannot be read. */
function sourcesOf(file: string): unknown {
  const sql = "SELECT value FROM _about WHERE company = '*' AND fact = 'sources'";
  return valueOr(() => readDatabase(file, (db) => db.prepare(sql).pluck().get() ?? null), null);
}

/** Returns false where a report was replaced meanwhile. */
async function writeCombined(parts: CombineParts, sources: string): Promise<boolean> {
  const { reports, missing, combined } = parts;
  using db = openDatabase(":memory:");
  const sizes = reports.map(({ file }) => statSync(file).size);
  const tables = combineTables(reports.map(({ file }) => withSource(db, file, () => readSourceTables(db))));
  attachReport(db, nextOf(combined), pageSizeFor(sizes.reduce((sum, bytes) => sum + bytes, 0)));
  for (const table of tables) db.exec(combinedTableSql(table));
  for (const report of reports) await copyReportRows(db, tables, report, parts);
  if (stateOfReports(reports, missing) !== sources) return false;
  writeCombinedFacts(db, parts, sources);
  for (const { name, indexes } of tables)
    for (const column of indexes) db.exec(indexSql("report", name, column, "company"));
  await pause(parts);
  db.pragma("analysis_limit = 1000");
  db.exec("ANALYZE report");
  assertSoundReport(db);
  return true;
}

function withSource<T>(db: Db, file: string, read: () => T): T {
  db.prepare("ATTACH ? AS source").run(file);
  try {
    return read();
  } finally {
    db.exec("DETACH source");
  }
}

async function copyReportRows(
  db: Db,
  tables: readonly CombinedTable[],
  { company, file }: CombineParts["reports"][number],
  { signal }: CombineParts,
): Promise<void> {
  db.prepare("ATTACH ? AS source").run(file);
  db.exec("BEGIN");
  const there = new Map(readSourceTables(db).map((table) => [table.name, table]));
  for (const { name } of tables) {
    const source = there.get(name);
    if (!source) continue;
    await pause({ signal });
    const names = source.columns.map((column) => column.name);
    const into = `INSERT INTO report.${quoted(name)} ("company", ${listed(names.map(combinedColumn))})`;
    db.prepare(`${into} SELECT ?, ${listed(names)} FROM source.${quoted(name)}`).run(company);
  }
  db.exec("COMMIT");
  db.exec("DETACH source");
}

const listed = (names: readonly string[]) => names.map(quoted).join(", ");

function writeCombinedFacts(db: Db, { reports, missing }: CombineParts, sources: string): void {
  const fact = "INSERT INTO report._about (company, subject, fact, value) VALUES (?, 'report', ?, ?)";
  const insert = db.prepare(fact);
  insert.run("*", "companies", reports.map(({ company }) => company).join(", "));
  insert.run("*", "sources", sources);
  for (const company of missing) insert.run(company, "missing", "yes");
}

type SourceTable = ReturnType<typeof readSourceTables>[number];

/** A table of the combined report. A view of the single ones is a table here, with the rows it had. */
type CombinedTable = ReturnType<typeof combineTables>[number];

/** A column's name in the combined report: a field that the service calls `company` makes room for whose row it is. */
function combinedColumn(name: string): string {
  return name === "company" ? "company_2" : name;
}

/** Reads what the report attached as `source` has, in its order. */
function readSourceTables(db: Db) {
  const named = `SELECT name FROM source.sqlite_schema
    WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite%' ORDER BY rowid`;
  const names = db.prepare(named).pluck().all() as string[];
  const pragma = <T>(what: string, of: string) => db.pragma(`source.${what}(${quoted(of)})`) as T[];
  return names.map((name) => {
    const indexes = pragma<{ name: string; origin: string }>("index_list", name);
    const created = indexes.filter(({ origin }) => origin === "c");
    const indexed = created.flatMap((index) => pragma<{ name: string }>("index_info", index.name));
    return {
      name,
      /** `pk`: the place in the primary key, from 1; 0: none. */
      columns: pragma<{ name: string; type: string; pk: number }>("table_info", name),
      /** Foreign keys: the column, and the table whose id it is. */
      keys: pragma<{ from: string; table: string }>("foreign_key_list", name),
      indexes: indexed.map((column) => column.name).toSorted(),
    };
  });
}

/**
 * The tables of a report over several, each with the columns that any of them has. A foreign key is declared where all
 * that have the table declare it. Pure.
 */
function combineTables(sources: readonly (readonly SourceTable[])[]) {
  const names = [...new Set(sources.flatMap((tables) => tables.map(({ name }) => name)))];
  return names.map((name) => {
    const same = sources.flatMap((tables) => tables.filter((table) => table.name === name));
    const found = same
      .flatMap((table) => table.columns)
      .map((one) => ({ ...one, name: combinedColumn(one.name) }));
    const types = new Map<string, string>();
    for (const { name: column, type } of found) types.set(column, widerColumn(types.get(column), type));
    const columns = [...new Map(found.map((one) => [one.name, one])).values()];
    const isShared = (key: SourceTable["keys"][number]) =>
      same.every(({ keys }) => keys.some(({ from, table }) => from === key.from && table === key.table));
    const keys = (same[0]?.keys ?? []).filter(isShared);
    return { name, columns, types, keys, indexes: [...new Set(same.flatMap((table) => table.indexes))] };
  });
}

/** Where two reports differ: a date that one has as a number is text, as in its own report. */
function widerColumn(known: string | undefined, type: string): string {
  if (known === undefined || known === type) return type;
  return [known, type].every((one) => /^(INT|REAL|DECIMAL)/.test(one)) ? "REAL" : "TEXT";
}

/** `CREATE TABLE`. Ids are unique within a company only, so the company is the first part of each key. */
function combinedTableSql({ name, columns, types, keys }: CombinedTable): string {
  const key = columns.filter(({ pk }) => pk > 0).toSorted((a, b) => a.pk - b.pk);
  const lines = columns.map(
    ({ name: column, pk }) => `${quoted(column)} ${types.get(column) ?? ""}${pk > 0 ? " NOT NULL" : ""}`,
  );
  if (key.length > 0) lines.push(`PRIMARY KEY (${listed(["company", ...key.map((one) => one.name)])})`);
  for (const { from, table } of keys)
    lines.push(`FOREIGN KEY ("company", ${quoted(from)}) REFERENCES ${quoted(table)} ("company", "id")`);
  const body = ['"company" TEXT NOT NULL', ...lines].map((line) => `\n  ${line}`).join(",");
  return `CREATE TABLE report.${quoted(name)} (${body}\n)${key.length > 0 ? " WITHOUT ROWID" : ""}`;
}
