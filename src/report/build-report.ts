import { quoted } from "../store/sql-text.ts";
import { yieldToLoop } from "../base/cancellation.ts";
import { deletedRecords, documentFiles, type SnapshotTable } from "../store/snapshot/snapshot-tables.ts";
import type { Db } from "../store/database.ts";
import { indexSql, inSchema, isDay, referencesOf, tableSql, viewSql } from "./report-layout.ts";
import type { ColumnChecks, ReportLayout, UndeclaredKeys } from "./report-layout.ts";

export interface ReportDraft {
  /** Shows the snapshot; the new file is attached as `report`. */
  readonly db: Db;
  readonly layout: ReportLayout;
  readonly signal: AbortSignal;
  /** With the rows written so far, of all tables. */
  readonly onStep: (table: string, rows: number) => void;
}

/** Lets other work of this thread run. @throws MirrorError `stopped` */
export function pause({ signal }: Pick<ReportDraft, "signal">): Promise<void> {
  return yieldToLoop(signal, "publishing was interrupted; the earlier report is unchanged");
}

/**
 * Fills the empty database attached as `report` from the snapshot of this connection. Keys are declared except
 * those that did not hold in the last report; `redeclareTables` corrects them.
 */
export async function buildReport(draft: ReportDraft, undeclared: UndeclaredKeys): Promise<void> {
  const { db, layout } = draft;
  let rows = 0;
  for (const table of layout.tables) {
    const held = referencesOf(table).filter(({ name }) => !undeclared.get(table.name)?.includes(name));
    const keys = new Set(held.map(({ name }) => name));
    rows += await buildTable(draft, table, { keys, texts: new Set() }, rows);
  }
  for (const view of layout.views) createView(db, "report", view);
}

/**
 * Makes the tables anew whose declaration does not fit their rows: a foreign key does not hold or holds now, a
 * date column has a number or lost its last one. SQLite cannot alter these. A reference to a record that is
 * missing (a deleted client, a table that is not mirrored) stays as it is, without a key: nothing is invented
 * and nothing is cut. Returns the references without a key.
 */
export async function redeclareTables(draft: ReportDraft): Promise<UndeclaredKeys> {
  const { db, layout } = draft;
  const undeclared = new Map<string, readonly string[]>();
  const declared = "SELECT sql FROM report.sqlite_schema WHERE type = 'table' AND name = ?";
  const declaredSql = db.prepare(declared).pluck();
  for (const table of layout.tables) {
    await pause(draft);
    const checks = checkColumns(draft, table);
    if (declaredSql.get(table.name) !== tableSql(table, checks)) {
      db.exec(`DROP TABLE report.${quoted(table.name)}`);
      await buildTable(draft, table, checks, 0);
    }
    const open = referencesOf(table).filter(({ name }) => !checks.keys.has(name));
    const names = open.map(({ name }) => name);
    undeclared.set(table.name, names);
  }
  return undeclared;
}

/**
 * Checks the rows of a table of the report against what its declaration depends on. Both queries use the indexes
 * of the report, so they are cheap for the columns that have one.
 */
function checkColumns({ db, layout }: ReportDraft, table: SnapshotTable): ColumnChecks {
  const present = new Set(layout.tables.map(({ name }) => name));
  const keys = referencesOf(table).filter(
    ({ name, references }) => present.has(references) && !hasOrphan(db, table.name, name, references),
  );
  const texts = table.columns.filter(({ name, type }) => isDay(type) && hasNumber(db, table.name, name));
  return { keys: new Set(keys.map(({ name }) => name)), texts: new Set(texts.map(({ name }) => name)) };
}

function hasOrphan(db: Db, table: string, column: string, references: string): boolean {
  const ids = `SELECT DISTINCT ${quoted(column)} AS id FROM report.${quoted(table)}`;
  const parent = `SELECT 1 FROM report.${quoted(references)} p WHERE p.id = r.id`;
  return hasRow(db, `SELECT 1 FROM (${ids}) r WHERE r.id IS NOT NULL AND NOT EXISTS (${parent}) LIMIT 1`);
}

/**
 * Whether a day is a number for a column declared DATE, as `20260101` is. The comparison with a NUMERIC converts
 * texts by the same rule; every number is at most infinity, every text greater.
 */
function hasNumber(db: Db, table: string, column: string): boolean {
  const where = `${quoted(column)} <= CAST(9e999 AS NUMERIC)`;
  return hasRow(db, `SELECT 1 FROM report.${quoted(table)} WHERE ${where} LIMIT 1`);
}

function hasRow(db: Db, sql: string): boolean {
  return db.prepare(sql).get() !== undefined;
}

/** Returns the number of rows; `before` were copied of other tables. */
async function buildTable(draft: ReportDraft, table: SnapshotTable, checks: ColumnChecks, before: number) {
  const { db, layout, onStep } = draft;
  db.exec(inSchema("report", tableSql(table, checks)));
  if (table.kind === "about") return 0;
  onStep(table.name, before);
  const tombstones = "INSERT INTO report.deleted_records SELECT * FROM temp.deleted_records";
  const rows =
    table.kind === "deleted" ? db.prepare(tombstones).run().changes : await copyRows(draft, table, before);
  for (const column of layout.indexes.get(table.name) ?? []) {
    if (rows > 0) await pause(draft);
    db.exec(indexSql("report", table.name, column));
  }
  return rows;
}

/**
 * Creates a view whose columns all have a type. A column that the view only passes on has its table's type and
 * stays as it is, so that a filter reaches an index. A computed one has none, which some readers take for a
 * blob: it gets a cast. So does an amount: DECIMAL holds whole ones as integers, of which 20 / 100 is 0.
 */
export function createView(db: Db, schema: string, view: SnapshotTable): void {
  db.exec(inSchema(schema, viewSql(view)));
  const columns = db.pragma(`${schema}.table_info(${quoted(view.name)})`) as { name: string; type: string }[];
  const untyped = columns.filter(({ type }) => /^(|BLOB|DECIMAL.*)$/.test(type)).map(({ name }) => name);
  if (untyped.length === 0) return;
  db.exec(`DROP VIEW ${quoted(schema)}.${quoted(view.name)}`);
  db.exec(inSchema(schema, viewSql(view, new Set(untyped))));
}

const rowsAtOnce = 20_000;

/** Copies a table in the order of its key, in slices; returns the number of rows. `before` were copied already. */
async function copyRows(draft: ReportDraft, table: SnapshotTable, before: number): Promise<number> {
  const { db, onStep } = draft;
  const key = table.primaryKey.map(quoted).join(", ");
  const target = `report.${quoted(table.name)}`;
  const names = table.columns.map(({ name }) => quoted(name)).join(", ");
  const head = `INSERT INTO ${target} (${names}) SELECT ${names} FROM temp.${quoted(table.name)}`;
  const marks = table.primaryKey.map(() => "?").join(", ");
  const tail = `ORDER BY ${key} LIMIT ${rowsAtOnce}`;
  const first = db.prepare(`${head} ${tail}`);
  const next = db.prepare(`${head} WHERE (${key}) > (${marks}) ${tail}`);
  const descending = table.primaryKey.map((column) => `${quoted(column)} DESC`).join(", ");
  const lastKey = db.prepare(`SELECT ${key} FROM ${target} ORDER BY ${descending} LIMIT 1`);
  lastKey.raw(true).safeIntegers(true);
  let rows = first.run().changes;
  for (let copied = rows; copied === rowsAtOnce; rows += copied) {
    onStep(table.name, before + rows);
    await pause(draft);
    copied = next.run(...(lastKey.get() as unknown[])).changes;
  }
  return rows;
}

/**
 * Brings a copy of the last report, attached as `report`, up to the snapshot of this connection: every record
 * in the change log after `since` is removed and inserted as it is now. Stored files and tombstones are copied whole,
 * because they show what other records say. A table whose keys stopped or started to hold is made anew afterwards
 * (`redeclareTables`).
 */
export async function updateReport(draft: ReportDraft, since: number): Promise<void> {
  const { db, layout, onStep } = draft;
  db.exec(`CREATE TEMP TABLE _changed (resource TEXT NOT NULL, record_id INTEGER NOT NULL,
    PRIMARY KEY (resource, record_id)) WITHOUT ROWID`);
  const changed = `INSERT OR IGNORE INTO temp._changed
    SELECT resource, record_id FROM _change_log WHERE seq > ? AND record_id IS NOT NULL`;
  db.prepare(changed).run(since);
  let rows = 0;
  for (const table of layout.tables.filter(({ kind }) => kind === "table")) {
    onStep(table.name, rows);
    await pause(draft);
    for (const part of [table, ...layout.tables.filter(({ parent }) => parent === table.name)])
      rows += replaceRows(db, part, table.name);
  }
  for (const { name } of [documentFiles, deletedRecords]) {
    db.exec(`DELETE FROM report.${name}`);
    db.exec(`INSERT INTO report.${name} SELECT * FROM temp.${name}`);
  }
}

const changedIds = "(SELECT record_id FROM temp._changed WHERE resource = ?)";

function replaceRows(db: Db, part: SnapshotTable, resource: string): number {
  const name = quoted(part.name);
  const key = quoted(part.primaryKey[0] ?? "id");
  const columns = part.columns.map((column) => quoted(column.name)).join(", ");
  db.prepare(`DELETE FROM report.${name} WHERE ${key} IN ${changedIds}`).run(resource);
  const select = `SELECT ${columns} FROM temp.${name} WHERE ${key} IN ${changedIds}`;
  return db.prepare(`INSERT INTO report.${name} (${columns}) ${select}`).run(resource).changes;
}
