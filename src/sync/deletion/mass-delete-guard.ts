import { type Clock, dayMs, isoTime } from "../../base/clock.ts";
import { Changes } from "../../store/apply/change-log.ts";
import type { Db } from "../../store/database.ts";
import type { Removals, RunContext } from "../context/run-context.ts";

/** Records of a resource that one run may remove without `--allow-mass-delete` (I5). */
export function massDeleteLimit(liveRecords: number): number {
  return Math.max(20, Math.floor(liveRecords * 0.05));
}

export function runRemovals(): Removals {
  const counts = new Map<string, number>();
  return {
    span: "in one run",
    count: (resource) => counts.get(resource) ?? 0,
    add: (resource, more) => void counts.set(resource, (counts.get(resource) ?? 0) + more),
  };
}

/**
 * Counts the removals of the last 24 hours, for the event worker. Those before a restart are taken from the
 * change log: a process that dies and starts again gets no second allowance.
 */
export function dailyRemovals(db: Db, clock: Clock): Removals {
  const since = isoTime(clock.nowMs() - dayMs);
  const inLog = new Changes(db).deletionsSince(since, "webhook");
  let removals = inLog.map(({ resource, at }) => ({ resource, atMs: Date.parse(at) }));
  return {
    span: "within a day",
    count: (resource) => {
      const sinceMs = clock.nowMs() - dayMs;
      removals = removals.filter(({ atMs }) => atMs > sinceMs);
      return removals.filter((one) => one.resource === resource).length;
    },
    add: (resource, more) => {
      const atMs = clock.nowMs();
      removals.push(...Array.from({ length: more }, () => ({ resource, atMs })));
    },
  };
}

/** May this run remove `more` records of the resource (I5)? Counts them if so. */
export function mayRemove(run: RunContext, resource: string, more: number): boolean {
  const count = run.removals.count(resource) + more;
  const limit = massDeleteLimit(run.mirror.records.counts(resource).live);
  if (count > limit && !run.allowMassDelete) return false;
  run.removals.add(resource, more);
  return true;
}

/** Reports that `count` records were kept because removing them needs permission. */
export function holdMassDelete(run: RunContext, resource: string, count: number): void {
  const live = run.mirror.records.counts(resource).live;
  const message =
    `Kept ${count} of ${live} records that seem to be deleted: ` +
    `removing more than ${massDeleteLimit(live)} ${run.removals.span} needs permission.`;
  const hint =
    "If they were deleted on purpose, run `fintoro-mirror sync --allow-mass-delete`; it checks each of them first.";
  run.tally.trouble({ resource, kind: "held", message, hint });
  if (run.runId === null) run.afterCommit.push(() => run.log.warn(`${resource}: ${message}`, { hint }));
}
