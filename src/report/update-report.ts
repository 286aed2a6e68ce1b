import { quoted } from "../store/sql-text.ts";
import { documentFiles, type SnapshotTable } from "../store/snapshot/snapshot-tables.ts";
import type { Db } from "../store/database.ts";
import { pause, type ReportDraft } from "./publish-draft.ts";

/**
 * Brings a copy of the last report, attached as `report`, up to the snapshot of this connection: every record
 * in the change log after `since` is removed and inserted as it is now. A table whose keys stopped or started to
 * hold is made anew afterwards (`redeclareTables`).
 */
export async function updateReport(draft: ReportDraft, since: number): Promise<void> {
  const { db, layout, onStep } = draft;
  noteChanged(db, since);
  let rows = 0;
  for (const table of layout.tables.filter(({ kind }) => kind === "table")) {
    onStep({ table: table.name, rows });
    await pause(draft);
    for (const part of [table, ...layout.tables.filter(({ parent }) => parent === table.name)])
      rows += replaceRows(db, part, table.name);
    replaceTombstones(db, table.name);
  }
  db.exec(`DELETE FROM report.${documentFiles.name}`);
  db.exec(`INSERT INTO report.${documentFiles.name} SELECT * FROM temp.${documentFiles.name}`);
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
  const insert = `INSERT INTO report.deleted_records SELECT * FROM temp.deleted_records WHERE ${which}`;
  db.prepare(`DELETE FROM report.deleted_records WHERE ${which}`).run(resource, resource);
  db.prepare(insert).run(resource, resource);
}
