import { isoTime } from "../../base/clock.ts";
import { Meta } from "../../state/meta.ts";
import { Runs } from "../../state/runs.ts";
import { WorkQueue } from "../../state/work-queue.ts";
import { Quarantine } from "../../store/apply/quarantine.ts";
import type { Db } from "../../store/database.ts";
import { lastFailedStart, type FailedStart } from "../../sync/run/run-outcome.ts";

/** What a snapshot says of its mirror, so that nobody has to fetch it for `fleet status`. Times are ISO. */
export interface SnapshotSummary {
  /** When the last run began that read everything listed; null: none did. */
  readonly whole_at: string | null;
  /** Why the last run ended early, or did not begin; null: it did not. */
  readonly problem: string | null;
  /** What the last run could not do. */
  readonly troubles: number;
  /** Reads that were to be made when the snapshot was: how far a run under way has come. */
  readonly reads_waiting: number;
  /** Reads that were set aside until the next run. */
  readonly set_aside: number;
  /** Records that cannot become a row. */
  readonly quarantined: number;
  /** Requests in the day before the snapshot. Of the mirror alone: those of runs, without those for events. */
  readonly day_requests: number;
}

const dayMs = 86_400_000;

/** The run after the last one, where it failed before it began to write; null: there was none. */
export function failedStartOf(db: Db): FailedStart | null {
  return lastFailedStart(new Meta(db), new Runs(db).latest(1)[0]?.startedAt ?? null);
}

/** Reads the summary of a mirror, or of a copy of one. */
export function readSummary(db: Db, nowMs: number): SnapshotSummary {
  const runs = new Runs(db);
  const [whole] = runs.successes(1);
  const last = runs.lastEnded();
  const queue = new WorkQueue(db);
  const ready = queue.counts().filter(({ state }) => state === "ready");
  return {
    whole_at: whole?.startedAt ?? null,
    problem: failedStartOf(db)?.message ?? last?.error ?? null,
    troubles: Array.isArray(last?.troubles) ? last.troubles.length : 0,
    reads_waiting: ready.reduce((sum, { count }) => sum + count, 0),
    set_aside: queue.deadLetters().length,
    quarantined: new Quarantine(db).all().length,
    day_requests: runs.requestsSince(isoTime(nowMs - dayMs)),
  };
}
