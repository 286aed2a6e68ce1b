import type { RecordId } from "../../base/ids.ts";
import { silentLog, type Log } from "../../base/logger.ts";
import type { Db } from "../database.ts";
import { insertRow, removeRows, Repository, selectRows } from "../own-tables/statement.ts";
import type { NewColumn } from "../tables/table-plan.ts";
import { ChangeLog } from "./change-log.ts";
import { Notices } from "./notices.ts";
import { Quarantine } from "./quarantine.ts";

/** What one resource's table needs of the mirror around it. */
export class TableContext {
  readonly db: Db;
  readonly log: ChangeLog;
  readonly notices: Notices;
  readonly quarantine: Quarantine;
  readonly differences: PreviewDifferences;
  readonly fences = new Fences();
  /** Is marked within each transaction that stores one of its numbers. */
  readonly sequence = { markStored: (): void => undefined };
  /** What the transaction adds for unknown fields: after a rollback, the plans of these tables are wrong. */
  readonly growth = { tables: new Set<string>(), columns: [] as NewColumn[] };

  /** @param firstSeq no change gets a lower number any more @default 1 */
  constructor(db: Db, log: Log = silentLog, firstSeq?: number) {
    this.db = db;
    this.log = new ChangeLog(db, firstSeq);
    this.notices = new Notices(log);
    this.quarantine = new Quarantine(db);
    this.differences = new PreviewDifferences(db);
  }
}

/**
 * Reads in flight, and records that were read unchanged meanwhile (I3).
 *
 * Guarantee: a read never overwrites what a read that was sent later has confirmed.
 * Source of truth: this memory. A read that changes nothing writes nothing, and only reads in flight must be
 * held back; they end with the process.
 * Worst outcome of a crash: nothing, because no read is in flight afterwards.
 */
export class Fences {
  private readonly inFlight = new Set<number>();
  private readonly confirmed = new Map<string, Map<RecordId, number>>();

  begin(sentSeq: number): void {
    this.inFlight.add(sentSeq);
  }

  /** Its answer is applied, or none came. */
  end(sentSeq: number): void {
    this.inFlight.delete(sentSeq);
    if (this.inFlight.size === 0) this.confirmed.clear();
  }

  /** The record was read unchanged. Remembered while another read is in flight. */
  confirm(resource: string, id: RecordId, sentSeq: number, receivedSeq: number): void {
    const others = this.inFlight.size - (this.inFlight.has(sentSeq) ? 1 : 0);
    if (others === 0) return;
    let ids = this.confirmed.get(resource);
    if (!ids) this.confirmed.set(resource, (ids = new Map()));
    ids.set(id, receivedSeq);
  }

  /** Was the record last read, applied or confirmed, after this read was sent? */
  isStale(resource: string, id: RecordId, sentSeq: number, appliedSeq: number): boolean {
    const confirmedSeq = this.confirmed.get(resource)?.get(id) ?? 0;
    return sentSeq <= Math.max(appliedSeq, confirmedSeq);
  }
}

/** A field that previews show differently from details in more records than this is no longer compared. */
const mostRecords = 3;

const notedTable = "_preview_differences";

type Noted = ReadonlyMap<string, Set<RecordId>>;

/**
 * Records of which a preview and a detail that was sent after it show a column differently. Such a difference is no
 * sign of a change: it would lead to the same reads every night.
 *
 * Guarantee: at most a few records for each column; a record is forgotten when its preview and its row agree again.
 * Source of truth: table `_preview_differences`.
 * Worst outcome of a crash: none of its own; a note commits with the detail that brought it.
 */
class PreviewDifferences extends Repository {
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
    insertRow(this.db, notedTable, { resource, field: column, record_id: id });
    this.byResource.delete(resource);
    if (ids?.size !== mostRecords) return false;
    this.stopped.add(resource);
    return true;
  }

  /** A preview agrees with the record's row in all but these columns. */
  forget(resource: string, id: RecordId, differing: readonly string[]): void {
    for (const [column, ids] of this.noted(resource)) {
      if (differing.includes(column) || !ids.delete(id)) continue;
      removeRows(this.db, notedTable, { resource, field: column, record_id: id });
    }
  }

  private noted(resource: string): Noted {
    const known = this.byResource.get(resource);
    if (known) return known;
    const noted = new Map<string, Set<RecordId>>();
    for (const { field, record_id: id } of selectRows(this.db, notedTable, ["field", "record_id"], {
      resource,
    }))
      noted.set(field, (noted.get(field) ?? new Set()).add(id));
    this.byResource.set(resource, noted);
    return noted;
  }
}
