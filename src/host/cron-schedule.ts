import { Cron } from "croner";
import { hourMs } from "../base/clock.ts";
import type { ScheduleConfig } from "../config/config.ts";
import { defaultReadyLimits, type ReadyLimits } from "../status/conditions.ts";

/** The moments that a cron pattern names in a time zone, epoch milliseconds. */
export type CronSchedule = ReturnType<typeof scheduleOf>;

/**
 * Parses a cron pattern. Where the clock is put forward, a time that does not exist comes at the first moment after
 * the gap; where it is put back, a time that exists twice comes once.
 */
export function parseCronSchedule(pattern: string, timezone: string): CronSchedule {
  const key = `${pattern} ${timezone}`;
  let schedule = parsed.get(key);
  if (!schedule) parsed.set(key, (schedule = scheduleOf(new Cron(pattern, { ...cronForm, timezone }))));
  return schedule;
}

/** When a config has everything read; null: never by the clock. */
export function runSchedule({ sync, timezone }: ScheduleConfig): CronSchedule | null {
  return sync === null ? null : parseCronSchedule(sync, timezone);
}

const cronForm = { paused: true, fixedTimeRule: "no-wildcard" } as const;

/** 80 kB each; hundreds of companies have the same. */
const parsed = new Map<string, CronSchedule>();

function scheduleOf(cron: Cron) {
  return {
    /** The first one after this moment; null: never again. */
    after: (atMs: number) => cron.nextRun(new Date(atMs))?.getTime() ?? null,
    /** The last one at or before this moment; null: there was none. */
    before: (atMs: number) => {
      // croner looks strictly before, and at whole seconds
      const [last] = cron.previousRuns(1, new Date(Math.floor(atMs / 1_000) * 1_000 + 1_000));
      return last?.getTime() ?? null;
    },
  };
}

/** Time that a run takes, its late start included. */
const runMs = 2 * hourMs;
const minFreshMs = 26 * hourMs;

/**
 * Pure: for how long data that a run read counts as current, milliseconds. Right after a scheduled time its run has
 * still to be made, so the interval before it counts as well as the one after it.
 */
export function freshForMs(schedule: CronSchedule | null, nowMs: number): number {
  const last = schedule?.before(nowMs) ?? null;
  if (schedule === null || last === null) return minFreshMs;
  const next = schedule.after(nowMs) ?? last;
  const previous = schedule.before(last - 1) ?? last;
  return Math.max(minFreshMs, Math.max(next - last, last - previous) + runMs);
}

export function readyLimits(schedule: ScheduleConfig, nowMs: number): ReadyLimits {
  return { ...defaultReadyLimits, freshForMs: freshForMs(runSchedule(schedule), nowMs) };
}
