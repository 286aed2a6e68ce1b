import type { RecordId } from "../../base/ids.ts";
import { silentLog, type Log } from "../../base/logger.ts";
import type { Db } from "../database.ts";
import type { NewColumn } from "../tables/table-plan.ts";
import { ChangeLog } from "./change-log.ts";
import { Notices } from "./notices.ts";
import { PreviewDifferences } from "./preview-differences.ts";
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
