import { sql } from "kysely";
import { dayMs } from "../base/clock.ts";
import { inTransaction } from "../store/database.ts";
import { insertRow, removeRows, updateRows, Repository, statement } from "../store/own-tables/statement.ts";

/** A time in which deliveries were accepted, both ends included. Epoch milliseconds. */
export interface Span {
  readonly startedMs: number;
  readonly seenMs: number;
}

/** How a span ended: `drained`, `refused` (deliveries were refused from then on), or null while it goes on and after a kill. */
export interface EndedSpan extends Span {
  readonly ended: string | null;
}

export const heartbeatMs = 15_000;

/** A longer silence is a gap. */
export const missedMs = 4 * heartbeatMs;

/** Long enough for every event that the service may still be sending, and for people to look back. */
export const keptMs = 30 * dayMs;

/**
 * When deliveries could be accepted: one row for each time that a company runtime receives, renewed by a heartbeat.
 *
 * Guarantee: a span never covers more than the truth; after a kill it ends with the last heartbeat.
 * Source of truth: table `_receiver`.
 * Worst outcome of a crash: up to one heartbeat is missing, and a run is made that was not needed.
 */
export class UptimeLog extends Repository {
  private id: number | null = null;
  private seenMs = 0;
  /** What `merge` took over last. */
  private merged: readonly Span[] | null = null;

  /** Of all processes, the oldest first; where it may still go on at `nowMs`, the last one until a heartbeat is missed. */
  spans(nowMs = 0): Span[] {
    const spans = allSpans.all(this.db);
    const seenMs = spans.at(-1)?.seenMs ?? Infinity;
    const isThere = nowMs > seenMs && nowMs - seenMs <= missedMs;
    return isThere ? [...spans, { startedMs: seenMs, seenMs: seenMs + missedMs }] : spans;
  }

  /** The last `most` spans, the oldest first. */
  latest(most: number): EndedSpan[] {
    return latestSpans.all(this.db, { most }).toReversed();
  }

  /** A heartbeat. True after a gap (the machine slept, the clock jumped): a new span begins. */
  beat(nowMs: number): boolean {
    const { id } = this;
    if (id === null || nowMs < this.seenMs || nowMs - this.seenMs > missedMs) {
      this.begin(nowMs);
      return id !== null;
    }
    inTransaction(this.db, () => updateRows(this.db, "_receiver", { seen_ms: nowMs }, { id }));
    this.seenMs = nowMs;
    return false;
  }

  /**
   * Takes over when other processes received, from a moment on: before, they did not receive this company's deliveries.
   * Does nothing for the same array again. True: another time has begun since the last call, after a gap.
   */
  merge(received: readonly Span[], fromMs = 0): boolean {
    if (received === this.merged) return false;
    const spans = received.flatMap(({ startedMs, seenMs }) =>
      seenMs < fromMs ? [] : [{ startedMs: Math.max(startedMs, fromMs), seenMs }],
    );
    const known = new Map(this.spans().map(({ startedMs, seenMs }) => [startedMs, seenMs]));
    const added = spans.filter(({ startedMs }) => !known.has(startedMs));
    const longer = spans.filter(({ startedMs, seenMs }) => (known.get(startedMs) ?? seenMs) < seenMs);
    const isFirst = this.merged === null;
    if (added.length + longer.length > 0)
      inTransaction(this.db, () => {
        removeOld.run(this.db, { beforeMs: (spans.at(-1)?.seenMs ?? 0) - keptMs });
        for (const { startedMs, seenMs } of longer)
          updateRows(this.db, "_receiver", { seen_ms: seenMs }, { started_ms: startedMs });
        for (const { startedMs, seenMs } of added)
          insertRow(this.db, "_receiver", { started_ms: startedMs, seen_ms: seenMs });
      });
    this.merged = received;
    return !isFirst && added.length > 0;
  }

  /** Nobody knows any more when deliveries were accepted. To be called in a transaction, before the first heartbeat. */
  forget(): void {
    removeRows(this.db, "_receiver", {});
  }

  /** Deliveries have been refused since this moment: what was noted after it is taken back. */
  refuse(sinceMs: number): void {
    inTransaction(this.db, () => refuseSince.run(this.db, { sinceMs, id: this.id }));
    this.id = null;
  }

  end(nowMs: number): void {
    const { id } = this;
    if (id === null) return;
    inTransaction(this.db, () => endSpan.run(this.db, { nowMs, id }));
    this.id = null;
  }

  private begin(nowMs: number): void {
    this.id = inTransaction(this.db, () => {
      removeOld.run(this.db, { beforeMs: nowMs - keptMs });
      return insertRow(this.db, "_receiver", { started_ms: nowMs, seen_ms: nowMs });
    });
    this.seenMs = nowMs;
  }
}

const allSpans = statement((db) =>
  db.selectFrom("_receiver").select(["started_ms as startedMs", "seen_ms as seenMs"]).orderBy("started_ms"),
);
const latestSpans = statement((db, p: { most: number }) => {
  const spans = db.selectFrom("_receiver").select(["started_ms as startedMs", "seen_ms as seenMs", "ended"]);
  return spans.orderBy("id", "desc").limit(p.most);
});
const removeOld = statement((db, p: { beforeMs: number }) =>
  db.deleteFrom("_receiver").where("seen_ms", "<", p.beforeMs),
);
const refuseSince = statement((db, p: { sinceMs: number; id: number | null }) => {
  const seen = sql<number>`max(started_ms, min(seen_ms, ${p.sinceMs}))`;
  const refused = db.updateTable("_receiver").set({ seen_ms: seen, ended: "refused" });
  return refused.where((r) => r.or([r("seen_ms", ">=", p.sinceMs), r("id", "=", p.id)]));
});
const endSpan = statement((db, p: { nowMs: number; id: number }) => {
  const seen_ms = sql<number>`max(seen_ms, ${p.nowMs})`;
  return db.updateTable("_receiver").set({ seen_ms, ended: "drained" }).where("id", "=", p.id);
});
