import { isoTime } from "../../base/clock.ts";
import { Meta } from "../../state/meta.ts";
import { Runs } from "../../state/runs.ts";
import { readyItems } from "../../state/work-item.ts";
import { readView, type StatusScope } from "../../status/company-view.ts";
import { openConditions, type NamedCondition } from "../../status/conditions.ts";
import type { Db } from "../../store/database.ts";
import { lastFailedStart, type FailedStart } from "../../sync/run/run-outcome.ts";

/** What a snapshot says of its mirror, so that nobody has to fetch it for `fleet status`. Times are ISO. */
export interface SnapshotSummary {
  /** When the last run began that read all that the config asks for; null: none did. */
  readonly whole_at: string | null;
  /** Reads that were to be made when the snapshot was: how far a run under way has come. */
  readonly reads_waiting: number;
  /** Requests in the day before the snapshot. Of the mirror alone: those of runs, without those for events. */
  readonly day_requests: number;
  /** What was wrong, without what depends on the time: that is judged when somebody asks. */
  readonly conditions: readonly NamedCondition[];
}

const dayMs = 86_400_000;
const noLimits = { freshForMs: Infinity, outageLimitMs: Infinity };

/** The run after the last one, where it failed before it began to write; null: there was none. */
export function failedStartOf(db: Db): FailedStart | null {
  return lastFailedStart(new Meta(db), new Runs(db).latest(1)[0]?.startedAt ?? null);
}

/** Reads the summary of a mirror, or of a copy of one. */
export function readSummary(db: Db, scope: StatusScope, nowMs: number): SnapshotSummary {
  const view = readView(db, scope, nowMs);
  return {
    whole_at: view.wholeRunMs === null ? null : isoTime(view.wholeRunMs),
    reads_waiting: readyItems(view.queue),
    day_requests: new Runs(db).requestsSince(isoTime(nowMs - dayMs)),
    conditions: openConditions(view, nowMs, noLimits).filter(({ kind }) => kind !== "stale"),
  };
}
