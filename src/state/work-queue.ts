import { laneRank, lanes, type Lane } from "../base/lane.ts";
import type { RecordId } from "../base/ids.ts";
import type { Db, Statement } from "../store/database.ts";
import type { Records } from "../store/tables/records.ts";
import { isUrgent, type NewWorkItem, type WorkItem, type WorkKind } from "./work-item.ts";

/** Whose rows: where events are received, their lane has a worker of its own, and runs take the others. */
export type LaneShare = "all" | "events" | "others";

const ranks = lanes.map((_lane, rank) => rank);
const ranksOf: Readonly<Record<LaneShare, readonly number[]>> = {
  all: ranks,
  events: ranks.filter((rank) => rank === laneRank("webhook")),
  others: ranks.filter((rank) => rank !== laneRank("webhook")),
};

/**
 * The queue of what is still to be fetched, one row per (resource, target), coalesced: ten events on
 * one invoice are one read.
 *
 * The queue is the checkpoint. Rows are added and removed inside the door's transactions, together with
 * the data they are about; kill the process anywhere and the next one goes on with the next row. A lease
 * lives in memory only, so a crash gives back what was in flight: the worst outcome is to read it again.
 *
 * A row leaves only when the read that answers it was sent after the row's last reason (`dirty_seq`):
 * an event that arrives during its own read keeps the row, and causes another read (I4).
 */
export class WorkQueue {
  private readonly db: Db;
  private readonly leased = new Set<number>();
  private readonly watchers = new Set<() => void>();
  private readonly insert: Statement;
  private readonly selectSame: Statement;
  private readonly insertLook: Statement;
  private readonly remove: Statement;
  private readonly selectNext: Statement;
  private readonly selectDue: Statement;
  private readonly setFailed: Statement;
  private readonly setPostponed: Statement;

  constructor(db: Db) {
    this.db = db;
    this.insert = db.prepare(
      `INSERT INTO _work (resource, target, kind, lane, due_ms, reason, payload, dirty_seq) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (resource, target) DO UPDATE SET
         kind = CASE WHEN kind = 'confirm' THEN kind ELSE excluded.kind END,
         lane = min(lane, excluded.lane), due_ms = min(due_ms, excluded.due_ms),
         reason = CASE WHEN excluded.reason = 'route probe' THEN reason ELSE excluded.reason END,
         payload = coalesce(excluded.payload, payload), dirty_seq = max(dirty_seq, excluded.dirty_seq),
         attempts = 0, state = 'ready', error = NULL`,
    );
    this.selectSame = db
      .prepare(
        `SELECT id FROM _work WHERE resource = ? AND target = ? AND lane = ? AND reason = ? AND kind IN (?, 'confirm')
           AND due_ms = 0 AND state = 'ready' AND attempts = 0 AND error IS NULL`,
      )
      .pluck();
    this.insertLook = db.prepare(
      `INSERT INTO _work (resource, target, kind, lane, due_ms, reason, dirty_seq) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (resource, target) DO NOTHING`,
    );
    this.remove = db.prepare("DELETE FROM _work WHERE id = ? AND dirty_seq <= ?");
    // Lane by lane, so that looks of the future in one are not waded through for those after it.
    const ready = "state = 'ready' AND lane = ? AND resource IN (SELECT value FROM json_each(?))";
    this.selectNext = db.prepare(
      `SELECT * FROM _work WHERE ${ready} AND due_ms <= ? ORDER BY due_ms, id LIMIT ?`,
    );
    this.selectDue = db.prepare(`SELECT id, due_ms FROM _work WHERE ${ready} ORDER BY due_ms, id LIMIT ?`);
    this.setFailed = db.prepare(
      "UPDATE _work SET attempts = attempts + 1, due_ms = ?, state = ?, error = ? WHERE id = ? AND dirty_seq <= ?",
    );
    this.setPostponed = db.prepare(
      "UPDATE _work SET attempts = max(attempts, 1), due_ms = ?, error = ? WHERE id = ? AND dirty_seq <= ?",
    );
  }

  add(work: NewWorkItem): void {
    const payload = work.payload === undefined ? null : JSON.stringify(work.payload);
    const due = work.dueAtMs ?? 0;
    if (payload === null && isUrgent(work) && this.isToBeRead(work)) return;
    this.insert.run(
      work.resource,
      work.target,
      work.kind,
      laneRank(work.lane),
      due,
      work.reason,
      payload,
      work.dirtySeq,
    );
    this.tellWatchers();
  }

  /**
   * Is the very same in the queue, first in line, and not begun? Its read will be sent after this reason as well,
   * so there is nothing to write: a burst of events about few records costs what the records cost.
   */
  private isToBeRead({ resource, target, lane, reason, kind }: NewWorkItem): boolean {
    const id = this.selectSame.get(resource, target, laneRank(lane), reason, kind);
    return id !== undefined && !this.leased.has(id as number);
  }

  /** Told when rows may have become due or free, added ones before they are committed. Returns what ends it. */
  watch(watcher: () => void): () => void {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }

  private tellWatchers(): void {
    for (const tell of this.watchers) tell();
  }

  /** Another look at a record, later; one that is to be read anyway needs none. */
  lookAgain(work: NewWorkItem): void {
    const { resource, target, kind, lane, dueAtMs, reason, dirtySeq } = work;
    this.insertLook.run(resource, target, kind, laneRank(lane), dueAtMs ?? 0, reason, dirtySeq);
  }

  /** The next row of these resources that is due and not leased: by lane, then by the time it is due. */
  lease(nowMs: number, resources: readonly string[], share: LaneShare = "all"): WorkItem | null {
    const names = JSON.stringify(resources);
    for (const rank of ranksOf[share]) {
      const rows = this.selectNext.all(rank, names, nowMs, this.leased.size + 1) as WorkRow[];
      const row = rows.find((candidate) => !this.leased.has(candidate.id));
      if (!row) continue;
      this.leased.add(row.id);
      return workOf(row);
    }
    return null;
  }

  /** When the next of the rows that nobody holds is due, second looks of the future among them; null: none. */
  nextDueMs(resources: readonly string[], share: LaneShare = "all"): number | null {
    const names = JSON.stringify(resources);
    const due = ranksOf[share].flatMap((rank) => {
      const rows = this.selectDue.all(rank, names, this.leased.size + 1) as WorkRow[];
      return rows.find((row) => !this.leased.has(row.id))?.due_ms ?? [];
    });
    return due.length === 0 ? null : Math.min(...due);
  }

  /** Inside the door's transaction. A row with a newer reason stays. */
  done(work: WorkItem, sentSeq: number): void {
    this.remove.run(work.id, sentSeq);
  }

  /** After the transaction, whatever came of it. A row that stays may be another's by now: he has to be told. */
  release(work: WorkItem): void {
    this.unlease(work);
    this.tellWatchers();
  }

  /** Of a row that was only looked at: nothing is new to anybody. */
  unlease(work: WorkItem): void {
    this.leased.delete(work.id);
  }

  /**
   * Try again at `dueAtMs`, or null: given up, kept as a dead letter. A row that got a newer reason while
   * it was leased has failed nothing yet and stays ready (I4).
   */
  failed(work: WorkItem, error: string, dueAtMs: number | null): void {
    this.setFailed.run(dueAtMs ?? 0, dueAtMs === null ? "dead" : "ready", error, work.id, work.dirtySeq);
  }

  /** Not now, for a reason that is not the row's own: no attempt is used up. */
  postpone(work: WorkItem, why: string, dueAtMs: number): void {
    this.setPostponed.run(dueAtMs, why, work.id, work.dirtySeq);
  }

  /** What was postponed for this reason has it no longer. */
  expedite(resource: string, why: string): void {
    this.db
      .prepare("UPDATE _work SET due_ms = 0 WHERE resource = ? AND state = 'ready' AND error = ?")
      .run(resource, why);
    this.tellWatchers();
  }

  /** Takes a resource's rows of these lanes out of this run; a later run brings them back. */
  hold(resource: string, why: string, share: LaneShare = "all"): void {
    const sql = `UPDATE _work SET state = 'held', error = ? WHERE resource = ? AND state = 'ready'
      AND lane IN (SELECT value FROM json_each(?))`;
    this.db.prepare(sql).run(why, resource, JSON.stringify(ranksOf[share]));
  }

  /**
   * Dead letters, held rows and those waiting for another attempt get a fresh chance with a new run: out of
   * the lane of events, so that it is this run that works on them. Attempts of another's lane stay his.
   */
  revive(resources: readonly string[], share: LaneShare = "all"): number {
    const revive = this.db.prepare(
      `UPDATE _work SET state = 'ready', attempts = 0, due_ms = 0, error = NULL,
         lane = CASE lane WHEN ${laneRank("webhook")} THEN ${laneRank("hydration")} ELSE lane END
       WHERE resource = ? AND (state <> 'ready'
         OR (attempts > 0 AND lane IN (SELECT value FROM json_each(?))))`,
    );
    const mine = JSON.stringify(ranksOf[share]);
    return resources.reduce((count, resource) => count + revive.run(resource, mine).changes, 0);
  }

  drop(resource: string, targetPrefix: string): void {
    const like = `${targetPrefix.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
    this.db
      .prepare(String.raw`DELETE FROM _work WHERE resource = ? AND target LIKE ? ESCAPE '\'`)
      .run(resource, like);
  }

  /** When a row that failed in this run is due again; null when there is none. */
  nextRetryMs(resources: readonly string[], share: LaneShare = "all"): number | null {
    const sql = `SELECT min(due_ms) FROM _work WHERE state = 'ready' AND attempts > 0
      AND lane IN (SELECT value FROM json_each(?)) AND resource IN (SELECT value FROM json_each(?))`;
    const due = this.db.prepare(sql).pluck().get(JSON.stringify(ranksOf[share]), JSON.stringify(resources));
    return due === null || due === undefined ? null : Number(due);
  }

  /** Is it still to be read, and not given up? */
  isReady(resource: string, target: string): boolean {
    const sql = "SELECT 1 FROM _work WHERE resource = ? AND target = ? AND state = 'ready'";
    return this.db.prepare(sql).get(resource, target) !== undefined;
  }

  /** Targets of a resource that are still to be read. */
  targets(resource: string, kind: WorkKind): string[] {
    const sql = "SELECT target FROM _work WHERE resource = ? AND kind = ?";
    return this.db.prepare(sql).pluck().all(resource, kind) as string[];
  }

  /** Live records that a route can be probed with, those without queued work first; see `Records.spread`. */
  routeProbes(records: Records, resource: string, except: RecordId): RecordId[] {
    const unqueued = `NOT EXISTS (SELECT 1 FROM _work WHERE resource = '${resource}' AND target = 'id:' || id)`;
    const found = [...records.spread(resource, except, unqueued), ...records.spread(resource, except)];
    return [...new Set(found)];
  }

  counts(): QueueCount[] {
    const sql = "SELECT resource, kind, state, count(*) AS count FROM _work GROUP BY resource, kind, state";
    return this.db.prepare(sql).all() as QueueCount[];
  }

  deadLetters(most = 100): { resource: string; target: string; error: string; state: string }[] {
    const sql =
      "SELECT resource, target, error, state FROM _work WHERE state <> 'ready' ORDER BY resource, id LIMIT ?";
    return this.db.prepare(sql).all(most) as {
      resource: string;
      target: string;
      error: string;
      state: string;
    }[];
  }
}

export interface QueueCount {
  readonly resource: string;
  readonly kind: WorkKind;
  readonly state: "ready" | "dead" | "held";
  readonly count: number;
}

interface WorkRow {
  readonly id: number;
  readonly resource: string;
  readonly target: string;
  readonly kind: WorkKind;
  readonly lane: number;
  readonly due_ms: number;
  readonly reason: string;
  readonly payload: string | null;
  readonly dirty_seq: number;
  readonly attempts: number;
}

function workOf(row: WorkRow): WorkItem {
  return {
    id: row.id,
    resource: row.resource,
    target: row.target,
    kind: row.kind,
    lane: lanes[row.lane] as Lane,
    dueAtMs: row.due_ms,
    reason: row.reason,
    payload: row.payload === null ? undefined : (JSON.parse(row.payload) as unknown),
    dirtySeq: row.dirty_seq,
    attempts: row.attempts,
  };
}
