import { quoted } from "../store/sql-text.ts";
import { deletedRecords, documentFiles, type SnapshotTable } from "../store/snapshot/snapshot-tables.ts";
import type { Db } from "../store/database.ts";
import { pause, type ReportDraft } from "./publish-draft.ts";

/**
 * Brings a copy of the last report, attached as `report`, up to the snapshot of this connection: every record
 * in the change log after `since` is removed and inserted as it is now. Stored files and tombstones are copied whole,
 * because they show what other records say. A table whose keys stopped or started to hold is made anew afterwards
 * (`redeclareTables`).
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
  }
  for (const { name } of [documentFiles, deletedRecords]) {
    db.exec(`DELETE FROM report.${name}`);
    db.exec(`INSERT INTO report.${name} SELECT * FROM temp.${name}`);
  }
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
