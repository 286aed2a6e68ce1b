import type { RecordId } from "../../base/ids.ts";
import type { Db } from "../../store/database.ts";
import { changesBegin } from "../retention/old-rows.ts";
import { Repository, selectRows } from "../../store/own-tables/statement.ts";
import { quoted } from "../../store/sql-text.ts";
import { fenceTable, rawTable } from "../../store/tables/table-layout.ts";

export interface LastChange {
  readonly seq: number;
  readonly op: string;
}

/**
 * The last change of each record as the change log has it, whatever the fences say: in a temporary table, so that a
 * log of any length costs no memory. Safe on a connection that only reads.
 */
export class LastChanges extends Repository {
  /** The first change that a prune has left. */
  readonly begin = changesBegin(this.db);

  constructor(db: Db) {
    super(db);
    db.exec(`DROP TABLE IF EXISTS temp._last_changes;
      CREATE TEMP TABLE _last_changes (resource TEXT, record_id INTEGER, seq INTEGER, op TEXT,
        PRIMARY KEY (resource, record_id)) WITHOUT ROWID;
      INSERT INTO temp._last_changes SELECT resource, record_id, max(seq), op FROM _change_log
        WHERE op <> 'event' GROUP BY resource, record_id`);
  }

  /** Those of the records with an id in this range, both ends included. */
  between(resource: string, from: RecordId, to: RecordId): Map<RecordId, LastChange> {
    const sql = `SELECT record_id, seq, op FROM temp._last_changes
      WHERE resource = ? AND record_id BETWEEN ? AND ?`;
    const rows = this.selectExact<LastChange & { readonly record_id: RecordId }>(sql, resource, from, to);
    return new Map(rows.map(({ record_id, ...last }) => [record_id, last]));
  }

  /** Records that live by the log, and of which the mirror holds nothing; with ids after `after`, in their order. */
  unheld(resource: string, after: bigint, most: number): RecordId[] {
    const held = [resource, rawTable(resource), fenceTable(resource)].map(
      (table) => `NOT EXISTS (SELECT 1 FROM main.${quoted(table)} t WHERE t.id = l.record_id)`,
    );
    const sql = `SELECT record_id FROM temp._last_changes l
      WHERE resource = ? AND record_id > ? AND op <> 'delete' AND ${held.join(" AND ")} ORDER BY record_id LIMIT ?`;
    return this.selectIds(sql, resource, after, most);
  }

  note(resource: string, id: RecordId, { seq, op }: LastChange): void {
    this.execute("INSERT OR REPLACE INTO temp._last_changes VALUES (?, ?, ?, ?)", resource, id, seq, op);
  }

  /** The record's JSON as a change found it; null: it keeps none. */
  before(seq: number): string | null {
    return selectRows(this.db, "_change_log", ["before"], { seq })[0]?.before ?? null;
  }

  /** Ends the temporary table. */
  drop(): void {
    this.db.exec("DROP TABLE IF EXISTS temp._last_changes");
  }
}
