import { isoTime } from "../../base/clock.ts";
import { canonicalId } from "../../base/ids.ts";
import type { Column, RowPlan, TablePlan } from "./table-plan.ts";
import { quoted } from "../sql-text.ts";
import { adoptAgain, growPlan, type NewColumn } from "./unknown-columns.ts";
import type { ReadStamp } from "../apply/read-stamp.ts";
import type { ResourceTable } from "../apply/resource-table.ts";
import type { UnknownKey } from "./row-decoder.ts";
import type { Db } from "../database.ts";
import { addColumn, columnNames, rawTable } from "./table-statements.ts";

/**
 * Fields the connector does not know become columns, inside the transaction that brought them, and
 * are filled from `_raw` for older rows too. `_schema_changes` remembers them for the next opening.
 */
export function growTable(
  db: Db,
  table: ResourceTable,
  unknown: readonly UnknownKey[],
  reading: ReadStamp,
): NewColumn[] {
  const added = growPlan(table.plan, unknown, (name) => columnNames(db, name));
  if (added.length === 0) return added;
  for (const { table: name, column } of added) {
    addColumn(db, name, column);
    recordChange(db, name, column.name, column.paths[0] ?? [], isoTime(reading.receivedAtMs), "added");
  }
  table.prepareAnew();
  const columns = new Set(added.map(({ column }) => column));
  refillOlder(db, table, columns, { ...reading, cause: "schema" });
  return added;
}

/** Fills columns from the JSON of rows that were written before anybody looked there. */
export function refillOlder(
  db: Db,
  table: ResourceTable,
  added: ReadonlySet<Column>,
  reading: ReadStamp,
): void {
  const raw = quoted(rawTable(table.resource.name));
  const json = db.prepare(`SELECT json FROM ${raw} WHERE id = ?`).pluck();
  for (const id of candidates(db, raw, added)) {
    table.refill(reading, canonicalId(id), json.get(id) as string, added);
  }
}

/** Ids of the rows whose JSON may have one of the columns' keys. */
function candidates(db: Db, raw: string, added: ReadonlySet<Column>): Set<bigint> {
  const having = db.prepare(`SELECT id FROM ${raw} WHERE instr(json, ?) > 0`).pluck().safeIntegers(true);
  const keys = [...added].flatMap((column) => column.paths.map((path) => path.at(-1) ?? ""));
  const ids = new Set<bigint>();
  for (const key of new Set(keys)) {
    // A key of other letters may be written in more than one way: `"` is in every record.
    const text = /^[A-Za-z0-9_]+$/.test(key) ? JSON.stringify(key) : '"';
    for (const id of having.all(text) as bigint[]) ids.add(id);
  }
  return ids;
}

function recordChange(
  db: Db,
  table: string,
  column: string,
  path: readonly string[],
  at: string,
  what: string,
): void {
  db.prepare(
    "INSERT INTO _schema_changes (at, table_name, column_name, path, what) VALUES (?, ?, ?, ?, ?)",
  ).run(at, table, column, JSON.stringify(path), what);
}

/** Columns that were added for fields the connector does not know, as `table.column`, the oldest first. */
export function grownColumns(db: Db): string[] {
  const sql = "SELECT table_name || '.' || column_name FROM _schema_changes ORDER BY id";
  return db.prepare(sql).pluck().all() as string[];
}

/** Adds to a fresh plan the columns that earlier runs had found. */
export function restoreGrowth(db: Db, plan: TablePlan): void {
  const rows = db
    .prepare("SELECT table_name, column_name, path FROM _schema_changes WHERE what = 'added'")
    .all() as {
    table_name: string;
    column_name: string;
    path: string;
  }[];
  for (const row of rows) {
    const target = rowsOf(plan, row.table_name);
    if (target) adoptAgain(target, JSON.parse(row.path) as string[], row.column_name);
  }
}

function rowsOf(plan: TablePlan, table: string): RowPlan | undefined {
  return plan.table === table ? plan : plan.children.find((child) => child.table === table);
}
