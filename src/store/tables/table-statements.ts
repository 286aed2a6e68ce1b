import { sqlTypes, type ChildPlan, type Column, type NewColumn, type TablePlan } from "./table-plan.ts";
import { insertSql, quoted, upsertSql } from "../sql-text.ts";
import type { RecordId } from "../../base/ids.ts";
import type { Cell } from "./row-decoder.ts";
import { hasTable, type Db, type Statement } from "../database.ts";

/** The table of a resource's JSON as received. Apart from the typed rows, so that reports do not scan it. */
export function rawTable(resource: string): string {
  return `_raw_${resource}`;
}

/** The table of the last applied read of each record. */
export function fenceTable(resource: string): string {
  return `_fence_${resource}`;
}

/** Creates the missing tables and columns of a plan. Returns the columns of older tables that are to be filled. */
export function ensureTables(db: Db, plan: TablePlan): NewColumn[] {
  const table = quoted(plan.table);
  const isOlder = hasTable(db, plan.table);
  const added = ensureTable(db, plan.table, dataColumns(plan), (columns) => [
    `id INTEGER PRIMARY KEY, ${columns}_deleted_at TEXT, _synced_at TEXT NOT NULL`,
    "STRICT",
  ]);
  for (const child of plan.children) {
    const isNew = !hasTable(db, child.table);
    const key = quoted(child.parentKey);
    const addedHere = ensureTable(db, child.table, child.columns, (columns) => [
      `${key} INTEGER NOT NULL, position INTEGER NOT NULL, ${columns}PRIMARY KEY (${key}, position)`,
      "STRICT, WITHOUT ROWID",
    ]);
    added.push(...(isNew && isOlder ? inTable(child.table, child.columns) : addedHere));
  }
  db.exec(`CREATE TABLE IF NOT EXISTS ${quoted(rawTable(plan.table))} (
    id INTEGER PRIMARY KEY, json TEXT NOT NULL) STRICT`);
  db.exec(`CREATE TABLE IF NOT EXISTS ${quoted(fenceTable(plan.table))} (
    id INTEGER PRIMARY KEY,
    sha BLOB, listed_sha BLOB, source TEXT NOT NULL,
    received_seq INTEGER NOT NULL, read_at INTEGER NOT NULL,
    last_change INTEGER, gone INTEGER NOT NULL DEFAULT 0) STRICT`);
  for (const columns of plan.indexes) {
    const name = quoted(`_${plan.table}_by_${columns.join("_")}`);
    db.exec(`CREATE INDEX IF NOT EXISTS ${name} ON ${table} (${columns.map(quoted).join(", ")})`);
  }
  return added;
}

/** @param layout the table's columns and its options, given the DDL of `columns` */
function ensureTable(
  db: Db,
  table: string,
  columns: readonly Column[],
  layout: (columns: string) => [string, string],
): NewColumn[] {
  const present = columnNames(db, table);
  if (present.size === 0) {
    const [body, options] = layout(columns.map((column) => `${ddl(column)}, `).join(""));
    db.exec(`CREATE TABLE ${quoted(table)} (${body}) ${options}`);
    return [];
  }
  const absent = columns.filter((column) => !present.has(column.name.toLowerCase()));
  for (const column of absent) addColumn(db, table, column);
  return inTable(table, absent);
}

function inTable(table: string, columns: readonly Column[]): NewColumn[] {
  return columns.map((column) => ({ table, column }));
}

/** Adds a column without values. */
export function addColumn(db: Db, table: string, column: Column): void {
  db.exec(`ALTER TABLE ${quoted(table)} ADD COLUMN ${ddl(column)}`);
}

/**
 * Names of a table's columns, lower-case as SQLite compares them; empty where there is no such table. Never those of
 * a temporary view of the same name.
 */
export function columnNames(db: Db, table: string, schema = "main"): Set<string> {
  const names = db.prepare("SELECT name FROM pragma_table_info(?, ?)").pluck().all(table, schema);
  return new Set((names as string[]).map((name) => name.toLowerCase()));
}

/** The columns of a record's own row without its key; the `id` of a child row is an ordinary column. */
export function dataColumns(plan: TablePlan): Column[] {
  return plan.columns.filter((column) => column.name !== "id");
}

function ddl(column: Column): string {
  return `${quoted(column.name)} ${sqlTypes[column.scalar]}`;
}

/** The prepared statements of one resource, for the plan's present columns. */
export type TableStatements = ReturnType<typeof prepareStatements>;

/** Prepares all statements of one resource. */
export function prepareStatements(db: Db, plan: TablePlan) {
  const names = dataColumns(plan).map((column) => column.name);
  const raw = rawTable(plan.table);
  const fence = fenceTable(plan.table);
  const facts = ["sha", "listed_sha", "source", "received_seq", "read_at", "last_change", "gone"];
  const select = (table: string, columns: readonly string[]) =>
    db.prepare(`SELECT ${columns.map(quoted).join(", ")} FROM ${quoted(table)} WHERE id = ?`);
  const updateFence = (set: string) => db.prepare(`UPDATE ${quoted(fence)} SET ${set} WHERE id = ?`);
  return {
    /** Parameters: id, the data columns, `_deleted_at`, `_synced_at`. */
    upsertRow: db.prepare(upsertSql(plan.table, "id", ["id", ...names, "_deleted_at", "_synced_at"])),
    selectRow: select(plan.table, names).raw().safeIntegers(),
    markDeleted: db.prepare(`UPDATE ${quoted(plan.table)} SET _deleted_at = ?, _synced_at = ? WHERE id = ?`),
    /** Takes the JSON as the bytes that came, without making a string of them. */
    upsertRaw: db.prepare(
      `INSERT INTO ${quoted(raw)} (id, json) VALUES (?, CAST(? AS TEXT)) ON CONFLICT (id) DO UPDATE SET json = excluded.json`,
    ),
    selectRaw: select(raw, ["json"]).pluck(),
    selectFence: select(fence, facts),
    upsertFence: db.prepare(upsertSql(fence, "id", ["id", ...facts])),
    setListedSha: updateFence("listed_sha = ?"),
    setLastChange: updateFence("last_change = ?"),
    touchFence: updateFence("received_seq = ?, read_at = ?, listed_sha = coalesce(?, listed_sha)"),
    markGone: updateFence(
      "gone = 1, sha = NULL, listed_sha = NULL, received_seq = ?, read_at = ?, last_change = ?",
    ),
    children: plan.children.map((child) => childStatements(db, child)),
  };
}

/** Child rows that one statement inserts. */
const rowsAtOnce = 8;

function childStatements(db: Db, child: ChildPlan) {
  const names = [child.parentKey, "position", ...child.columns.map((column) => column.name)];
  const bySize = new Map<number, Statement>();
  const statementFor = (size: number) => {
    let statement = bySize.get(size);
    if (!statement) bySize.set(size, (statement = db.prepare(insertSql(child.table, names, size))));
    return statement;
  };
  return {
    clear: db.prepare(`DELETE FROM ${quoted(child.table)} WHERE ${quoted(child.parentKey)} = ?`),
    /** Inserts the rows of one parent; several with each call. */
    insert: (id: RecordId, rows: readonly (readonly Cell[])[]) => {
      for (let from = 0; from < rows.length; from += rowsAtOnce) {
        const part = rows.slice(from, from + rowsAtOnce);
        const cells: Cell[] = [];
        for (const [i, row] of part.entries()) {
          cells.push(id, from + i);
          for (const cell of row) cells.push(cell);
        }
        statementFor(part.length).run(cells);
      }
    },
  };
}
