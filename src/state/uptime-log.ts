import { inTransaction, type Db } from "../store/database.ts";

/** A time in which deliveries were taken, both ends included. Epoch milliseconds. */
export interface Span {
  readonly startedMs: number;
  /** The last heartbeat. */
  readonly seenMs: number;
}

/** How a span ended: `drained`, or null while it goes on and after a kill. */
export interface EndedSpan extends Span {
  readonly ended: string | null;
}

/**
 * When deliveries could be taken: one row for each life of a station, renewed by a heartbeat.
 *
 * Guarantee: a span never says more than was true; the end of one that was killed is its last heartbeat.
 * Worst outcome of a crash: up to one heartbeat too little is known, and a run too many made.
 */
export class UptimeLog {
  private readonly db: Db;
  private id: number | bigint | null = null;
  private seenMs = 0;

  constructor(db: Db) {
    this.db = db;
  }

  /** Of every life there was. */
  spans(): Span[] {
    const sql = "SELECT started_ms AS startedMs, seen_ms AS seenMs FROM _receiver ORDER BY started_ms";
    return this.db.prepare(sql).all() as Span[];
  }

  /** The last `most` spans, the oldest first. */
  latest(most: number): EndedSpan[] {
    const sql =
      "SELECT started_ms AS startedMs, seen_ms AS seenMs, ended FROM _receiver ORDER BY id DESC LIMIT ?";
    return (this.db.prepare(sql).all(most) as EndedSpan[]).toReversed();
  }

  private begin(nowMs: number): void {
    this.id = inTransaction(this.db, () => {
      this.db.prepare("DELETE FROM _receiver WHERE seen_ms < ?").run(nowMs - keptMs);
      const sql = "INSERT INTO _receiver (started_ms, seen_ms) VALUES (?, ?)";
      return this.db.prepare(sql).run(nowMs, nowMs).lastInsertRowid;
    });
    this.seenMs = nowMs;
  }

  /** A heartbeat. True: nobody was here for a while (the machine slept, the clock jumped), and a new span begins. */
  beat(nowMs: number): boolean {
    const isFirst = this.id === null;
    if (isFirst || nowMs < this.seenMs || nowMs - this.seenMs > missedMs) {
      this.begin(nowMs);
      return !isFirst;
    }
    this.write("UPDATE _receiver SET seen_ms = ? WHERE id = ?", nowMs);
    this.seenMs = nowMs;
    return false;
  }

  end(nowMs: number): void {
    if (this.id === null) return;
    this.write("UPDATE _receiver SET seen_ms = max(seen_ms, ?), ended = 'drained' WHERE id = ?", nowMs);
    this.id = null;
  }

  private write(sql: string, nowMs: number): void {
    inTransaction(this.db, () => this.db.prepare(sql).run(nowMs, this.id));
  }
}

export const heartbeatMs = 15_000;

/** Silence longer than this is not a heartbeat that was late. */
const missedMs = 4 * heartbeatMs;

/** Long enough to judge every event the service may still be sending, and to look back at. */
const keptMs = 30 * 86_400_000;
