import { Cron } from "croner";
import { hourMs } from "../base/clock.ts";
import type { Config } from "./config.ts";

/** The moments that a cron pattern names in a time zone, epoch milliseconds. */
export type CronSchedule = ReturnType<typeof scheduleOf>;

/**
 * Parses a cron pattern. Where the clock is put forward, a time that does not exist comes at the first moment after
 * the gap, unless every minute or hour is meant; where it is put back, a time that exists twice comes once.
 */
export function parseCronSchedule(pattern: string, timezone: string): CronSchedule {
  const key = `${pattern} ${timezone}`;
  let schedule = parsed.get(key);
  if (!schedule) parsed.set(key, (schedule = scheduleOf(new Cron(pattern, { ...cronForm, timezone }))));
  return schedule;
}

/** When a config has everything read; null: never by the clock. */
export function runSchedule({ sync, timezone }: Config["schedule"]): CronSchedule | null {
  return sync === null ? null : parseCronSchedule(sync, timezone);
}

const cronForm = { paused: true, fixedTimeRule: "no-wildcard" } as const;

/** 80 kB each; hundreds of companies have the same. */
const parsed = new Map<string, CronSchedule>();

function scheduleOf(cron: Cron) {
  const after = (atMs: number) => cron.nextRun(new Date(atMs))?.getTime() ?? null;
  const before = (atMs: number) => {
    // croner looks strictly before, and at whole seconds
    const [last] = cron.previousRuns(1, new Date(Math.floor(atMs / 1_000) * 1_000 + 1_000));
    return last?.getTime() ?? null;
  };
  /** The same for every moment between two of the pattern's: to find those takes long. */
  let known = { fromMs: Infinity, untilMs: Infinity, ms: minFreshMs };
  return {
    /** The first one after this moment; null: never again. */
    after,
    /** The last one at or before this moment; null: there was none. */
    before,
    /** As `freshForMs`. */
    freshForMs: (nowMs: number): number => {
      if (nowMs >= known.fromMs && nowMs < known.untilMs) return known.ms;
      const last = before(nowMs);
      if (last === null) return minFreshMs;
      const next = after(nowMs);
      const longest = Math.max((next ?? last) - last, last - (before(last - 1) ?? last));
      known = { fromMs: last, untilMs: next ?? Infinity, ms: Math.max(minFreshMs, longest + runMs) };
      return known.ms;
    },
  };
}

/** Time that a run takes, its late start included. */
const runMs = 2 * hourMs;
/** A day and two hours, as `status --max-age 26h`. */
const minFreshMs = 26 * hourMs;

/**
 * For how long data that a run read counts as current, milliseconds. Right after a scheduled time its run has still to be
 * made, so the interval before it counts as well as the one after it.
 */
export function freshForMs(schedule: CronSchedule | null, nowMs: number): number {
  return schedule?.freshForMs(nowMs) ?? minFreshMs;
}
