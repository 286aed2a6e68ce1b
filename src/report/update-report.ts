import { quoted } from "../store/sql-text.ts";
import type { SnapshotTable } from "../store/snapshot/snapshot-tables.ts";
import type { Db } from "../store/database.ts";
import { oddDays } from "./build-report.ts";
import { isDay, type Layout } from "./report-layout.ts";
import { keysChanged } from "./column-checks.ts";
import { yieldToLoop, type StepOptions } from "./row-copy.ts";

/**
 * Brings a copy of the last report, attached as `report`, up to the snapshot of this connection: every record
 * that the change log names after `since` is taken out and put in again as it is now. False: made anew it would
 * be declared otherwise, and so it has to be.
 */
export async function updateReport(
  db: Db,
  layout: Layout,
  since: number,
  manners: StepOptions,
): Promise<boolean> {
  noteChanged(db, since);
  const records = layout.tables.filter(({ kind }) => kind === "table");
  let rows = 0;
  for (const table of records) {
    manners.onStep({ table: table.name, rows });
    await yieldToLoop(manners);
    for (const part of [table, ...layout.tables.filter(({ parent }) => parent === table.name)])
      rows += replaceRows(db, part, table.name);
    replaceTombstones(db, table.name);
  }
  await yieldToLoop(manners);
  return !keysChanged(db, layout) && !layout.tables.some((table) => daysChanged(db, table));
}

function noteChanged(db: Db, since: number): void {
  db.exec(`CREATE TEMP TABLE _changed (resource TEXT NOT NULL, record_id INTEGER NOT NULL,
    PRIMARY KEY (resource, record_id)) WITHOUT ROWID`);
  const sql = `INSERT OR IGNORE INTO temp._changed
    SELECT resource, record_id FROM _change_log WHERE seq > ? AND record_id IS NOT NULL`;
  db.prepare(sql).run(since);
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

function replaceTombstones(db: Db, resource: string): void {
  const which = `resource = ? AND record_id IN ${changedIds}`;
  db.prepare(`DELETE FROM report.deleted_records WHERE ${which}`).run(resource, resource);
  db.prepare(`INSERT INTO report.deleted_records SELECT * FROM temp.deleted_records WHERE ${which}`).run(
    resource,
    resource,
  );
}

/** A day that is none came, or the last report had one: then its column is of another type. */
function daysChanged(db: Db, table: SnapshotTable): boolean {
  const sql = "SELECT name, type FROM pragma_table_info(?, 'report')";
  const types = new Map(db.prepare(sql).raw().all(table.name) as [string, string][]);
  const isOther = table.columns.some(({ name, type }) => isDay(type) && types.get(name) !== type);
  return isOther || oddDays(db, table).size > 0;
}
