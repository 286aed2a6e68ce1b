import { inboxPosition, Meta } from "../../state/meta.ts";
import { Runs } from "../../state/runs.ts";
import { Changes } from "../../store/apply/change-reader.ts";
import type { Db } from "../../store/database.ts";
import { failedStartOf } from "./snapshot-summary.ts";

/** The last run that ended; quick runs are none. */
interface LastRun {
  readonly id: number;
  readonly outcome: string;
  /** ISO. */
  readonly finished_at: string;
}

/** How far a mirror is. Where it is as far as its published snapshot, another one would show nothing new. */
export interface MirrorPosition {
  /** Of the last change; 0: none. */
  readonly seq: number;
  /** Of the last delivery that was taken from the fleet's inbox; 0: none. */
  readonly inboxSeq: number;
  /** Null: none. */
  readonly lastRun: LastRun | null;
  /** Outcome of the run after it, where that failed before it began to write; another one like it is nothing new. */
  readonly failedStart: string | null;
}

/** Of a mirror that nothing was read into. */
export const beginning: MirrorPosition = { seq: 0, inboxSeq: 0, lastRun: null, failedStart: null };

/** Reads a few small facts, also beside a running writer. */
export function readMirrorPosition(db: Db): MirrorPosition {
  const run = new Runs(db).lastEnded();
  return {
    seq: new Changes(db).lastSeq(),
    inboxSeq: inboxPosition(new Meta(db)),
    failedStart: failedStartOf(db)?.outcome ?? null,
    lastRun: run && { id: run.id, outcome: run.outcome, finished_at: run.finishedAt },
  };
}
