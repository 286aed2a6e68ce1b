import { isoTime } from "../../../src/base/clock.ts";
import type { Listing } from "../../../src/state/listings.ts";
import { Runs, type RunMode } from "../../../src/state/runs.ts";
import type { NewWorkItem, WorkItem } from "../../../src/state/work-item.ts";
import type { Db } from "../../../src/store/database.ts";

/** A work item: the detail of a new person, unless it says something else. */
export function work(more: Partial<NewWorkItem> = {}): NewWorkItem {
  return {
    kind: "detail",
    resource: "people",
    target: "id:1",
    lane: "hydration",
    reason: "new",
    dirtySeq: 1,
    ...more,
  };
}

/** The same, as it is leased. */
export function workItem(more: Partial<WorkItem> = {}): WorkItem {
  return { ...work(), id: 1, attempts: 0, ...more };
}

/** A list of people in three pages, read for the second time. */
export const listing: Listing = {
  resource: "people",
  variant: "",
  run: 1,
  attempt: 2,
  startedSeq: 20,
  startedAt: "2026-03-02T00:00:00.000Z",
  perPage: 2,
  pages: 3,
  total: 5,
  steady: true,
  idle: 0,
  tails: 0,
  overstated: false,
};

interface EndedRun {
  readonly mode?: RunMode;
  readonly endedMs?: number;
  readonly outcome?: string;
  readonly report?: object;
}

/** A run that began at that moment and ended: at once, complete and without a word, unless it says something else. */
export function endRun(db: Db, startedMs: number, facts: EndedRun = {}): void {
  const { mode = "incremental", endedMs = startedMs, outcome = "complete", report = {} } = facts;
  const runs = new Runs(db);
  runs.finish(runs.begin(mode, isoTime(startedMs), null, {}), isoTime(endedMs), outcome, report);
}
