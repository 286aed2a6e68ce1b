import { Cron } from "croner";
import { MirrorError, messageOf } from "../../base/errors.ts";

/** When something is due: the wall clock's moments that a cron pattern names in a time zone, epoch milliseconds. */
export interface CronSchedule {
  /** The first one after this moment; null: never again. */
  after(atMs: number): number | null;
  /** The last one at or before this moment; null: there was none. */
  before(atMs: number): number | null;
}

/**
 * Where the clock is put forward a time that does not exist comes at the first moment after the gap; where
 * it is put back a time that is there twice comes once. Throws MirrorError `config` for a pattern that
 * looks like one and is none.
 */
export function parseCronSchedule(pattern: string, timezone: string): CronSchedule {
  const cron = read(pattern, timezone);
  return {
    after: (atMs) => cron.nextRun(new Date(atMs))?.getTime() ?? null,
    before: (atMs) => {
      // croner looks strictly before, and at whole seconds
      const [last] = cron.previousRuns(1, new Date(Math.floor(atMs / 1_000) * 1_000 + 1_000));
      return last?.getTime() ?? null;
    },
  };
}

function read(pattern: string, timezone: string): Cron {
  try {
    return new Cron(pattern, { timezone, paused: true, fixedTimeRule: "no-wildcard" });
  } catch (error) {
    throw new MirrorError("config", `schedule.sync "${pattern}" is no cron pattern: ${messageOf(error)}`, {
      hint: 'Minute, hour, day of month, month, day of week: "15 2 * * *" is a quarter past two every night.',
      cause: error,
    });
  }
}
