import { hourMs, minuteMs } from "../base/clock.ts";
import type { Random } from "../base/random.ts";

/** Milliseconds between attempts: `baseMs` after the first, doubled with each more, at most `maxMs`. */
export interface Backoff {
  readonly baseMs: number;
  readonly maxMs: number;
}

/**
 * How often each kind of work is tried again after a failure, and how long it waits in between. What a failure means is
 * decided beside the work; for what is read of the service in `retry-policies.ts`.
 */
export const retries = {
  /** A run while the service is away; `http.patience` ends it. */
  run: { baseMs: 2_000, maxMs: minuteMs },
  /** A read of a run that fails while others succeed: a minute in all. */
  ownFailure: { baseMs: 2_000, maxMs: 30_000, most: 5 },
  /** A read of the event worker, and of who asks after a parent. */
  read: { baseMs: 1_000, maxMs: 32_000, attempts: 3 },
  /** An answer that contradicts its question, or itself. */
  contradiction: { attempts: 5 },
  /** The event worker, by what is in its way. `failuresInARow`: without an answer in between, although the company can be identified. */
  events: {
    unavailable: { baseMs: 1_000, maxMs: minuteMs },
    unauthenticated: { baseMs: 30_000, maxMs: 5 * minuteMs },
    identity: { baseMs: 5 * minuteMs, maxMs: 5 * minuteMs },
    database: { baseMs: 1_000, maxMs: minuteMs },
    failuresInARow: 12,
  },
  /** A request of a command. The rate limiter does the waiting after 429. A longer `Retry-After` is cut. */
  command: { baseMs: 500, maxMs: 30_000, attempts: 5, refusals: 10, longestAskedMs: 2 * minuteMs },
  /** A run of the schedule, or that is needed, until one is complete. */
  scheduledRun: { baseMs: minuteMs, maxMs: 30 * minuteMs },
  /** A transaction of a run while another program locks the mirror. */
  mirrorLock: { everyMs: 500, longestMs: 30_000 },
  /** A mirror that another process holds, or that cannot be opened, in `serve`. */
  mirror: { lockedMs: 2_000, failedMs: 30_000 },
  /** The record of what follows runs while others add to it: a quarter of a second each, much longer than they take. */
  record: { attempts: 40 },
  /** An export after a run while a `sync` or the daemon makes another one into the same folder. */
  exportFolder: { everyMs: 1_000, longestMs: 10 * minuteMs },
  /** Files of a record that could not be used, unless a person asks. */
  files: { afterMs: 20 * hourMs },
  /** A request to the object store: pauses of 15 s in all. One that hangs is not made again: others wait for its end. */
  store: { baseMs: 1_000, maxMs: 8_000, attempts: 5, longestMs: 4 * minuteMs },
  /** A command or a worker while Postgres is away: longer than a restart or a failover. */
  postgres: { baseMs: 500, maxMs: 5_000, longestMs: 10 * minuteMs },
  /** What a node of the fleet asks Postgres for again and again: deliveries, the note of an account, the companies. */
  node: { deliveriesMs: 2_000, accountMs: 500, companiesMs: 1_000 },
  /** An alert to a target; then it is given up. */
  alert: { baseMs: 15_000, maxMs: hourMs, attempts: 60 },
  /** The same at the end of a `sync`; the next one goes on. */
  alertAfterSync: { baseMs: 2_000, maxMs: 5_000, attempts: 3 },
  /** A change to a receiver of `notify`. A longer `Retry-After` is cut. */
  change: { baseMs: 2_000, maxMs: 15 * minuteMs, longestAskedMs: hourMs },
  /** A company whose nodes died again and again. */
  takeover: { baseMs: minuteMs, maxMs: 30 * minuteMs },
} as const;

/** Milliseconds to wait after `attempt` failed attempts, from 1. With `random` the upper half of it is random, so that clients do not return all at once. */
export function backoffMs(attempt: number, { baseMs, maxMs }: Backoff, random?: Random): number {
  const fullMs = Math.min(maxMs, baseMs * 2 ** Math.max(0, attempt - 1));
  return random ? Math.round(fullMs / 2 + (fullMs / 2) * random.next()) : fullMs;
}
