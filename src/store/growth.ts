import { isoTime } from "../base/clock.ts";
import { canonicalId } from "../base/ids.ts";
import type { RowPlan, TablePlan } from "./columns.ts";
import { quoted } from "./compiler.ts";
import { adopt, growPlan, type NewColumn } from "./evolve.ts";
import type { Reading } from "./reading.ts";
import type { ResourceTable } from "./resource-table.ts";
import type { UnknownKey } from "./row.ts";
import type { Db } from "./sqlite.ts";
import { addColumn, rawTable } from "./tables.ts";

/**
 * Fields the connector does not know become columns, inside the transaction that brought them, and
 * are filled from `_raw` for older rows too. `_schema_changes` remembers them for the next opening.
 */
export function growTable(
  db: Db,
  table: ResourceTable,
  unknown: readonly UnknownKey[],
  reading: Reading,
): NewColumn[] {
  const added = growPlan(table.plan, unknown);
  if (added.length === 0) return added;
  for (const { table: name, column } of added) {
    addColumn(db, name, column);
    recordChange(db, name, column.name, column.paths[0] ?? [], isoTime(reading.receivedAtMs), "added");
  }
  table.prepareAnew();
  for (const { column } of added) refillOlder(db, table, column.paths[0]?.at(-1) ?? "", reading);
  return added;
}

/** Rows whose JSON had the field before anybody looked. */
function refillOlder(db: Db, table: ResourceTable, key: string, reading: Reading): void {
  const raw = quoted(rawTable(table.resource.name));
  const older = db.prepare(`SELECT id FROM ${raw} WHERE instr(json, ?) > 0`).pluck().safeIntegers(true);
  const json = db.prepare(`SELECT json FROM ${raw} WHERE id = ?`).pluck();
  const schema: Reading = { ...reading, cause: "schema" };
  for (const id of older.all(JSON.stringify(key)) as bigint[]) {
    table.refill(schema, canonicalId(id), json.get(id) as string);
  }
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
    if (target && !target.columns.some((column) => column.name === row.column_name)) {
      adopt(target, JSON.parse(row.path) as string[], row.column_name);
    }
  }
}

function rowsOf(plan: TablePlan, table: string): RowPlan | undefined {
  return plan.table === table ? plan : plan.children.find((child) => child.table === table);
}
