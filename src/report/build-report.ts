import { quoted } from "../store/sql-text.ts";
import type { SnapshotTable } from "../store/snapshot/snapshot-tables.ts";
import type { Db } from "../store/database.ts";
import { applicationId, userVersion } from "./report-file.ts";
import { indexSql, inSchema, isDay, tableSql, viewSql, type Layout } from "./report-layout.ts";
import { yieldToLoop, copyRows, type StepOptions } from "./row-copy.ts";

/** Fills the empty database attached as `report` from the snapshot of this connection. */
export async function buildReport(db: Db, layout: Layout, manners: StepOptions): Promise<void> {
  db.pragma(`report.application_id = ${applicationId}`);
  db.pragma(`report.user_version = ${userVersion}`);
  let rows = 0;
  for (const table of layout.tables) {
    if (table.kind === "about")
      db.exec(
        inSchema(
          "report",
          tableSql(table, () => false),
        ),
      );
    else rows += await buildTable(db, layout, table, manners, rows);
  }
  for (const view of layout.views) createView(db, "report", view);
}

/**
 * What a view computes has no declared type, and readers that go by it take such columns for blobs. What it
 * passes on from a table has that column's type, and stays as it is: a filter on it still reaches an index.
 */
export function createView(db: Db, schema: string, view: SnapshotTable): void {
  db.exec(inSchema(schema, viewSql(view)));
  const told = db.pragma(`${schema}.table_info(${quoted(view.name)})`) as { name: string; type: string }[];
  const untyped = told.filter(({ type }) => type === "" || type === "BLOB").map(({ name }) => name);
  if (untyped.length === 0) return;
  db.exec(`DROP VIEW ${quoted(schema)}.${quoted(view.name)}`);
  db.exec(inSchema(schema, viewSql(view, new Set(untyped))));
}

async function buildTable(
  db: Db,
  layout: Layout,
  table: SnapshotTable,
  manners: StepOptions,
  before: number,
): Promise<number> {
  const rows = await fillTable(db, layout, table, manners, before, new Set());
  const odd = oddDays(db, table);
  if (odd.size === 0) return rows;
  db.exec(`DROP TABLE report.${quoted(table.name)}`);
  return fillTable(db, layout, table, manners, before, odd);
}

async function fillTable(
  db: Db,
  layout: Layout,
  table: SnapshotTable,
  manners: StepOptions,
  before: number,
  texts: ReadonlySet<string>,
): Promise<number> {
  manners.onStep({ table: table.name, rows: before });
  db.exec(
    inSchema(
      "report",
      tableSql(table, () => true, texts),
    ),
  );
  const rows = table.kind === "deleted" ? copyTombstones(db) : await copyRows(db, table, manners, before);
  for (const column of layout.indexes.get(table.name) ?? []) {
    if (rows > 0) await yieldToLoop(manners);
    db.exec(indexSql("report", table.name, column));
  }
  return rows;
}

function copyTombstones(db: Db): number {
  return db.prepare("INSERT INTO report.deleted_records SELECT * FROM temp.deleted_records").run().changes;
}

/**
 * A day that looks like a number ("20260101") would become one in a column declared DATE. Numbers stand
 * before texts in an index, so the smallest value tells whether there is any: such a column is TEXT.
 */
export function oddDays(db: Db, table: SnapshotTable): Set<string> {
  const days = table.columns.filter(({ type }) => isDay(type)).map(({ name }) => name);
  const isOdd = (name: string) => {
    const sql = `SELECT typeof(min(${quoted(name)})) FROM report.${quoted(table.name)}`;
    return ["integer", "real"].includes(db.prepare(sql).pluck().get() as string);
  };
  return new Set(days.filter(isOdd));
}
