import type { Clock } from "../../base/clock.ts";
import { isoTime } from "../../base/clock.ts";
import { deletionsSince } from "../../store/apply/change-reader.ts";
import type { Db } from "../../store/database.ts";
import type { Removals } from "../context/run-context.ts";

/** Of one run. */
export function runRemovals(): Removals {
  const counts = new Map<string, number>();
  return {
    span: "in one run",
    count: (resource) => counts.get(resource) ?? 0,
    add: (resource, more) => void counts.set(resource, (counts.get(resource) ?? 0) + more),
  };
}

const dayMs = 24 * 3_600_000;

interface Removal {
  readonly resource: string;
  readonly atMs: number;
}

/**
 * Of the last 24 hours, for whoever works without an end. What events removed before a restart is counted
 * from the change log: a process that dies and comes back is given no second allowance.
 */
export function dailyRemovals(db: Db, clock: Clock): Removals {
  let removals = removedLately(db, clock.nowMs() - dayMs);
  const recent = () => {
    const sinceMs = clock.nowMs() - dayMs;
    if (removals.some(({ atMs }) => atMs <= sinceMs))
      removals = removals.filter(({ atMs }) => atMs > sinceMs);
    return removals;
  };
  return {
    span: "within a day",
    count: (resource) => recent().filter((one) => one.resource === resource).length,
    add: (resource, more) => {
      const atMs = clock.nowMs();
      removals.push(...Array.from({ length: more }, () => ({ resource, atMs })));
    },
  };
}

function removedLately(db: Db, sinceMs: number): Removal[] {
  return deletionsSince(db, isoTime(sinceMs), "webhook").map(({ resource, at }) => ({
    resource,
    atMs: Date.parse(at),
  }));
}
