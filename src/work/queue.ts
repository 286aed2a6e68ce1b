import { laneRank, lanes, type Lane } from "../base/lane.ts";
import type { Db, Statement } from "../store/sqlite.ts";
import type { NewWork, Work, WorkKind } from "./item.ts";

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
export class Queue {
  private readonly db: Db;
  private readonly leased = new Set<number>();
  private readonly insert: Statement;
  private readonly remove: Statement;
  private readonly selectNext: Statement;
  private readonly setFailed: Statement;

  constructor(db: Db) {
    this.db = db;
    this.insert = db.prepare(
      `INSERT INTO _work (resource, target, kind, lane, due_ms, reason, payload, dirty_seq) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (resource, target) DO UPDATE SET
         kind = CASE WHEN kind = 'confirm' THEN kind ELSE excluded.kind END,
         lane = min(lane, excluded.lane), due_ms = min(due_ms, excluded.due_ms), reason = excluded.reason,
         payload = coalesce(excluded.payload, payload), dirty_seq = max(dirty_seq, excluded.dirty_seq),
         attempts = 0, state = 'ready', error = NULL`,
    );
    this.remove = db.prepare("DELETE FROM _work WHERE id = ? AND dirty_seq <= ?");
    this.selectNext = db.prepare(
      `SELECT * FROM _work WHERE state = 'ready' AND due_ms <= ?
         AND resource IN (SELECT value FROM json_each(?)) ORDER BY lane, id LIMIT ?`,
    );
    this.setFailed = db.prepare(
      "UPDATE _work SET attempts = attempts + 1, due_ms = ?, state = ?, error = ? WHERE id = ? AND dirty_seq <= ?",
    );
  }

  add(work: NewWork): void {
    const payload = work.payload === undefined ? null : JSON.stringify(work.payload);
    const due = work.dueAtMs ?? 0;
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
  }

  /** The next row of these resources that is due and not leased. */
  lease(nowMs: number, resources: readonly string[]): Work | null {
    const rows = this.selectNext.all(nowMs, JSON.stringify(resources), this.leased.size + 1) as WorkRow[];
    const row = rows.find((candidate) => !this.leased.has(candidate.id));
    if (!row) return null;
    this.leased.add(row.id);
    return workOf(row);
  }

  /** Inside the door's transaction. A row with a newer reason stays. */
  done(work: Work, sentSeq: number): void {
    this.remove.run(work.id, sentSeq);
  }

  /** After the transaction, whatever came of it. */
  release(work: Work): void {
    this.leased.delete(work.id);
  }

  /**
   * Try again at `dueAtMs`, or null: given up, kept as a dead letter. A row that got a newer reason while
   * it was leased has failed nothing yet and stays ready (I4).
   */
  failed(work: Work, error: string, dueAtMs: number | null): void {
    this.setFailed.run(dueAtMs ?? 0, dueAtMs === null ? "dead" : "ready", error, work.id, work.dirtySeq);
  }

  /** Takes a resource's rows out of this run; a later run brings them back. */
  hold(resource: string, why: string): void {
    this.db
      .prepare("UPDATE _work SET state = 'held', error = ? WHERE resource = ? AND state = 'ready'")
      .run(why, resource);
  }

  /** Dead letters, held rows and those waiting for another attempt get a fresh chance with a new run. */
  revive(resources: readonly string[]): number {
    const revive = this.db.prepare(
      `UPDATE _work SET state = 'ready', attempts = 0, due_ms = 0, error = NULL
       WHERE resource = ? AND (state <> 'ready' OR attempts > 0)`,
    );
    return resources.reduce((count, resource) => count + revive.run(resource).changes, 0);
  }

  drop(resource: string, targetPrefix: string): void {
    const like = `${targetPrefix.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
    this.db
      .prepare(String.raw`DELETE FROM _work WHERE resource = ? AND target LIKE ? ESCAPE '\'`)
      .run(resource, like);
  }

  /** When a row that failed in this run is due again; null when there is none. */
  nextRetryMs(resources: readonly string[]): number | null {
    const sql = `SELECT min(due_ms) FROM _work WHERE state = 'ready' AND attempts > 0
      AND resource IN (SELECT value FROM json_each(?))`;
    const due = this.db.prepare(sql).pluck().get(JSON.stringify(resources));
    return due === null || due === undefined ? null : Number(due);
  }

  isReady(resource: string, target: string): boolean {
    const sql = "SELECT 1 FROM _work WHERE resource = ? AND target = ? AND state = 'ready'";
    return this.db.prepare(sql).get(resource, target) !== undefined;
  }

  /** Targets of a resource that are still to be read. */
  targets(resource: string, kind: WorkKind): string[] {
    const sql = "SELECT target FROM _work WHERE resource = ? AND kind = ?";
    return this.db.prepare(sql).pluck().all(resource, kind) as string[];
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

function workOf(row: WorkRow): Work {
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
