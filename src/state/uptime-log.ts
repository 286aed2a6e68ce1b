import { inTransaction, type Db } from "../store/database.ts";

/** A time in which deliveries were accepted, both ends included. Epoch milliseconds. */
export interface Span {
  readonly startedMs: number;
  /** The last heartbeat. */
  readonly seenMs: number;
}

/** How a span ended: `drained`, or null while it goes on and after a kill. */
export interface EndedSpan extends Span {
  readonly ended: string | null;
}

/** Time between two heartbeats. */
export const heartbeatMs = 15_000;

/** A longer silence is a gap. */
const missedMs = 4 * heartbeatMs;

/** Long enough for every event that the service may still be sending, and for people to look back. */
const keptMs = 30 * 86_400_000;

/**
 * When deliveries could be accepted: one row for each time that a company runtime receives, renewed by a heartbeat.
 *
 * Guarantee: a span never covers more than the truth; after a kill it ends with the last heartbeat.
 * Source of truth: table `_receiver`.
 * Worst outcome of a crash: up to one heartbeat is missing, and a run is made that was not needed.
 */
export class UptimeLog {
  private readonly db: Db;
  private id: number | bigint | null = null;
  private seenMs = 0;

  constructor(db: Db) {
    this.db = db;
  }

  /** Of all processes, the oldest first. */
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

  /** A heartbeat. True after a gap (the machine slept, the clock jumped): a new span begins. */
  beat(nowMs: number): boolean {
    const isFirst = this.id === null;
    if (isFirst || nowMs < this.seenMs || nowMs - this.seenMs > missedMs) {
      this.begin(nowMs);
      return !isFirst;
    }
    this.update("UPDATE _receiver SET seen_ms = ? WHERE id = ?", nowMs);
    this.seenMs = nowMs;
    return false;
  }

  /** No more deliveries are accepted. */
  end(nowMs: number): void {
    if (this.id === null) return;
    this.update("UPDATE _receiver SET seen_ms = max(seen_ms, ?), ended = 'drained' WHERE id = ?", nowMs);
    this.id = null;
  }

  private begin(nowMs: number): void {
    this.id = inTransaction(this.db, () => {
      this.db.prepare("DELETE FROM _receiver WHERE seen_ms < ?").run(nowMs - keptMs);
      const sql = "INSERT INTO _receiver (started_ms, seen_ms) VALUES (?, ?)";
      return this.db.prepare(sql).run(nowMs, nowMs).lastInsertRowid;
    });
    this.seenMs = nowMs;
  }

  private update(sql: string, nowMs: number): void {
    inTransaction(this.db, () => this.db.prepare(sql).run(nowMs, this.id));
  }
}
