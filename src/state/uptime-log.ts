import { inTransaction } from "../store/database.ts";
import { Repository } from "../store/repository.ts";

/** A time in which deliveries were accepted, both ends included. Epoch milliseconds. */
export interface Span {
  readonly startedMs: number;
  /** The last heartbeat. */
  readonly seenMs: number;
}

/** How a span ended: `drained`, `refused` (deliveries were refused from then on), or null while it goes on and after a kill. */
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
export class UptimeLog extends Repository {
  private id: number | bigint | null = null;
  private seenMs = 0;
  /** What `merge` took over last. */
  private merged: readonly Span[] | null = null;

  /** Of all processes, the oldest first. */
  spans(): Span[] {
    const sql = "SELECT started_ms AS startedMs, seen_ms AS seenMs FROM _receiver ORDER BY started_ms";
    return this.selectAll(sql);
  }

  /** The last `most` spans, the oldest first. */
  latest(most: number): EndedSpan[] {
    const sql =
      "SELECT started_ms AS startedMs, seen_ms AS seenMs, ended FROM _receiver ORDER BY id DESC LIMIT ?";
    return this.selectAll<EndedSpan>(sql, most).toReversed();
  }

  /** A heartbeat. True after a gap (the machine slept, the clock jumped): a new span begins. */
  beat(nowMs: number): boolean {
    const isFirst = this.id === null;
    if (isFirst || nowMs < this.seenMs || nowMs - this.seenMs > missedMs) {
      this.begin(nowMs);
      return !isFirst;
    }
    this.update("UPDATE _receiver SET seen_ms = ? WHERE id = ?", nowMs, this.id);
    this.seenMs = nowMs;
    return false;
  }

  /** Takes over when other processes received. True: another time has begun since the last call, after a gap. */
  merge(spans: readonly Span[]): boolean {
    if (spans === this.merged) return false;
    const known = new Map(this.spans().map(({ startedMs, seenMs }) => [startedMs, seenMs]));
    const added = spans.filter(({ startedMs }) => !known.has(startedMs));
    const longer = spans.filter(({ startedMs, seenMs }) => (known.get(startedMs) ?? seenMs) < seenMs);
    const isFirst = this.merged === null;
    if (added.length + longer.length > 0)
      inTransaction(this.db, () => {
        this.execute("DELETE FROM _receiver WHERE seen_ms < ?", (spans.at(-1)?.seenMs ?? 0) - keptMs);
        for (const { startedMs, seenMs } of longer)
          this.execute("UPDATE _receiver SET seen_ms = ? WHERE started_ms = ?", seenMs, startedMs);
        for (const { startedMs, seenMs } of added)
          this.execute("INSERT INTO _receiver (started_ms, seen_ms) VALUES (?, ?)", startedMs, seenMs);
      });
    this.merged = spans;
    return !isFirst && added.length > 0;
  }

  /** Nobody knows any more when deliveries were accepted. To be called in a transaction, before the first heartbeat. */
  forget(): void {
    this.execute("DELETE FROM _receiver");
  }

  /** Deliveries have been refused since this moment: what was noted after it is taken back. */
  refuse(sinceMs: number): void {
    const sql = `UPDATE _receiver SET seen_ms = max(started_ms, min(seen_ms, ?)), ended = 'refused'
      WHERE seen_ms >= ? OR id = ?`;
    this.update(sql, sinceMs, sinceMs, this.id);
    this.id = null;
  }

  /** No more deliveries are accepted. */
  end(nowMs: number): void {
    if (this.id === null) return;
    const sql = "UPDATE _receiver SET seen_ms = max(seen_ms, ?), ended = 'drained' WHERE id = ?";
    this.update(sql, nowMs, this.id);
    this.id = null;
  }

  private begin(nowMs: number): void {
    this.id = inTransaction(this.db, () => {
      this.execute("DELETE FROM _receiver WHERE seen_ms < ?", nowMs - keptMs);
      const sql = "INSERT INTO _receiver (started_ms, seen_ms) VALUES (?, ?)";
      return this.execute(sql, nowMs, nowMs).lastInsertRowid;
    });
    this.seenMs = nowMs;
  }

  private update(sql: string, ...values: readonly unknown[]): void {
    inTransaction(this.db, () => this.execute(sql, ...values));
  }
}
