import type { ChildPlan, Column, TablePlan } from "./table-plan.ts";
import { sqlType } from "./table-plan.ts";
import { insertSql, quoted, selectByIdSql, upsertSql } from "../sql-text.ts";
import type { RecordId } from "../../base/ids.ts";
import type { Cell } from "./row-decoder.ts";
import type { Db, Statement } from "../database.ts";

/** The table of a resource's JSON as received. Apart from the typed rows, so that reports do not scan it. */
export function rawTable(resource: string): string {
  return `_raw_${resource}`;
}

/** The table of the last applied read of each record. */
export function fenceTable(resource: string): string {
  return `_fence_${resource}`;
}

/** Creates the missing tables and columns of a plan. Returns the columns it added to older tables. */
export function ensureTables(db: Db, plan: TablePlan): { table: string; column: Column }[] {
  const own = ["_deleted_at TEXT", "_synced_at TEXT NOT NULL"];
  const isOlder = columnNames(db, plan.table).size > 0;
  const added = ensureTable(db, plan.table, dataColumns(plan), (columns) => [
    "id INTEGER PRIMARY KEY",
    ...columns,
    ...own,
  ]);
  for (const child of plan.children) added.push(...ensureChild(db, child, isOlder));
  db.exec(`CREATE TABLE IF NOT EXISTS ${quoted(rawTable(plan.table))} (
    id INTEGER PRIMARY KEY, json TEXT NOT NULL) STRICT`);
  db.exec(`CREATE TABLE IF NOT EXISTS ${quoted(fenceTable(plan.table))} (
    id INTEGER PRIMARY KEY,
    sha BLOB, listed_sha BLOB, source TEXT NOT NULL,
    received_seq INTEGER NOT NULL, read_at INTEGER NOT NULL,
    last_change INTEGER, gone INTEGER NOT NULL DEFAULT 0) STRICT`);
  for (const columns of plan.indexes) {
    const name = quoted(`_${plan.table}_by_${columns.join("_")}`);
    db.exec(
      `CREATE INDEX IF NOT EXISTS ${name} ON ${quoted(plan.table)} (${columns.map(quoted).join(", ")})`,
    );
  }
  return added;
}

/** Of a child table that is new beside an older parent, all columns are to be filled. */
function ensureChild(db: Db, child: ChildPlan, hasOlderParent: boolean): { table: string; column: Column }[] {
  const isNew = columnNames(db, child.table).size === 0;
  const added = ensureTable(db, child.table, child.columns, (columns) => [
    `${quoted(child.parentKey)} INTEGER NOT NULL`,
    "position INTEGER NOT NULL",
    ...columns,
    `PRIMARY KEY (${quoted(child.parentKey)}, position)`,
  ]);
  return isNew && hasOlderParent ? child.columns.map((column) => ({ table: child.table, column })) : added;
}

function ensureTable(
  db: Db,
  table: string,
  columns: readonly Column[],
  body: (columns: string[]) => string[],
): { table: string; column: Column }[] {
  const present = columnNames(db, table);
  if (present.size === 0) {
    const withoutRowid = body([]).some((line) => line.startsWith("PRIMARY KEY")) ? ", WITHOUT ROWID" : "";
    db.exec(`CREATE TABLE ${quoted(table)} (${body(columns.map(ddl)).join(", ")}) STRICT${withoutRowid}`);
    return [];
  }
  const absent = columns.filter((column) => !present.has(column.name.toLowerCase()));
  for (const column of absent) addColumn(db, table, column);
  return absent.map((column) => ({ table, column }));
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
  return `${quoted(column.name)} ${sqlType(column)}`;
}

/** The prepared statements of one resource, for the plan's present columns. */
export type TableStatements = ReturnType<typeof prepareStatements>;

/** Prepares all statements of one resource. */
export function prepareStatements(db: Db, plan: TablePlan) {
  const names = dataColumns(plan).map((column) => column.name);
  const raw = rawTable(plan.table);
  const fence = fenceTable(plan.table);
  const facts = ["sha", "listed_sha", "source", "received_seq", "read_at", "last_change", "gone"];
  const updateFence = (set: string) => db.prepare(`UPDATE ${quoted(fence)} SET ${set} WHERE id = ?`);
  return {
    /** Parameters: id, the data columns, `_deleted_at`, `_synced_at`. */
    upsertRow: db.prepare(upsertSql(plan.table, "id", ["id", ...names, "_deleted_at", "_synced_at"])),
    selectRow: db.prepare(selectByIdSql(plan.table, names)).raw(true).safeIntegers(true),
    markDeleted: db.prepare(`UPDATE ${quoted(plan.table)} SET _deleted_at = ?, _synced_at = ? WHERE id = ?`),
    /** Takes the JSON as the bytes that came, without making a string of them. */
    upsertRaw: db.prepare(
      `INSERT INTO ${quoted(raw)} (id, json) VALUES (?, CAST(? AS TEXT)) ON CONFLICT (id) DO UPDATE SET json = excluded.json`,
    ),
    selectRaw: db.prepare(selectByIdSql(raw, ["json"])).pluck(),
    selectFence: db.prepare(selectByIdSql(fence, facts)),
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
