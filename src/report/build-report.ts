import { quoted } from "../store/sql-text.ts";
import type { SnapshotTable } from "../store/snapshot/snapshot-tables.ts";
import type { Db } from "../store/database.ts";
import { pause, type StepOptions } from "./publish-steps.ts";
import { applicationId, userVersion } from "./report-file.ts";
import { indexSql, inSchema, tableSql, viewSql, type ColumnChecks, type Layout } from "./report-layout.ts";

/** Fills the empty database attached as `report` from the snapshot of this connection. */
export async function buildReport(
  db: Db,
  layout: Layout,
  checks: ReadonlyMap<string, ColumnChecks>,
  steps: StepOptions,
): Promise<void> {
  db.pragma(`report.application_id = ${applicationId}`);
  db.pragma(`report.user_version = ${userVersion}`);
  let rows = 0;
  for (const table of layout.tables) {
    db.exec(inSchema("report", tableSql(table, checks.get(table.name))));
    if (table.kind === "about") continue;
    steps.onStep({ table: table.name, rows });
    const added = table.kind === "deleted" ? copyTombstones(db) : await copyRows(db, table, steps, rows);
    for (const column of layout.indexes.get(table.name) ?? []) {
      if (added > 0) await pause(steps);
      db.exec(indexSql("report", table.name, column));
    }
    rows += added;
  }
  for (const view of layout.views) createView(db, "report", view);
}

/**
 * Creates a view whose columns all have a type. A column that the view only passes on has its table's type and
 * stays as it is, so that a filter reaches an index. A computed one has none, which some readers take for a
 * blob: it gets a cast.
 */
export function createView(db: Db, schema: string, view: SnapshotTable): void {
  db.exec(inSchema(schema, viewSql(view)));
  const columns = db.pragma(`${schema}.table_info(${quoted(view.name)})`) as { name: string; type: string }[];
  const untyped = columns.filter(({ type }) => type === "" || type === "BLOB").map(({ name }) => name);
  if (untyped.length === 0) return;
  db.exec(`DROP VIEW ${quoted(schema)}.${quoted(view.name)}`);
  db.exec(inSchema(schema, viewSql(view, new Set(untyped))));
}

function copyTombstones(db: Db): number {
  return db.prepare("INSERT INTO report.deleted_records SELECT * FROM temp.deleted_records").run().changes;
}

const rowsAtOnce = 20_000;

/** Copies a table in the order of its key, in slices; returns the number of rows. `before` were copied already. */
async function copyRows(db: Db, table: SnapshotTable, steps: StepOptions, before: number): Promise<number> {
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
    steps.onStep({ table: table.name, rows: before + rows });
    await pause(steps);
    copied = next.run(...(lastKey.get() as unknown[])).changes;
  }
  return rows;
}
