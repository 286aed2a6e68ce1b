import type { RecordId } from "../../base/ids.ts";
import { insertRow, removeRows, Repository, selectRows } from "../own-tables/statement.ts";

/** A field that previews show differently from details in more records than this is no longer compared. */
const mostRecords = 3;

const table = "_preview_differences";

type Noted = ReadonlyMap<string, Set<RecordId>>;

/**
 * Records of which a preview and a detail that was sent after it show a column differently. Such a difference is no
 * sign of a change: it would lead to the same reads every night.
 *
 * Guarantee: at most a few records for each column; a record is forgotten when its preview and its row agree again.
 * Source of truth: table `_preview_differences`.
 * Worst outcome of a crash: none of its own; a note commits with the detail that brought it.
 */
export class PreviewDifferences extends Repository {
  private readonly byResource = new Map<string, Noted>();
  /** Resources of which a column is no longer compared since this transaction. */
  private readonly stopped = new Set<string>();

  /** Call at the start of each transaction: what an earlier one read may be rolled back. */
  begin(): void {
    this.byResource.clear();
    this.stopped.clear();
  }

  /** Did this transaction find a column of the resource that is no longer compared? */
  hasStopped(resource: string): boolean {
    return this.stopped.has(resource);
  }

  /** All columns that are no longer compared: `invoices.total`. */
  all(): string[] {
    const sql = `SELECT resource || '.' || field FROM _preview_differences GROUP BY resource, field
      HAVING count(*) > ? ORDER BY resource, field`;
    return this.selectColumn(sql, mostRecords);
  }

  uncompared(resource: string): ReadonlySet<string> {
    const noted = [...this.noted(resource)];
    return new Set(noted.filter(([, ids]) => ids.size > mostRecords).map(([column]) => column));
  }

  /** Notes a record. True: the column is no longer compared from now on. */
  note(resource: string, column: string, id: RecordId): boolean {
    const ids = this.noted(resource).get(column);
    if (ids && (ids.has(id) || ids.size > mostRecords)) return false;
    insertRow(this.db, table, { resource, field: column, record_id: id });
    this.byResource.delete(resource);
    if (ids?.size !== mostRecords) return false;
    this.stopped.add(resource);
    return true;
  }

  /** A preview agrees with the record's row in all but these columns. */
  forget(resource: string, id: RecordId, differing: readonly string[]): void {
    for (const [column, ids] of this.noted(resource)) {
      if (differing.includes(column) || !ids.delete(id)) continue;
      removeRows(this.db, table, { resource, field: column, record_id: id });
    }
  }

  private noted(resource: string): Noted {
    const known = this.byResource.get(resource);
    if (known) return known;
    const noted = new Map<string, Set<RecordId>>();
    for (const { field, record_id: id } of selectRows(this.db, table, ["field", "record_id"], { resource }))
      noted.set(field, (noted.get(field) ?? new Set()).add(id));
    this.byResource.set(resource, noted);
    return noted;
  }
}
