import type { Clock } from "../base/clock.ts";
import { messageOf, MirrorError } from "../base/errors.ts";
import type { Log } from "../base/logger.ts";
import { databaseError, type Db } from "./database.ts";

/** A database that fails for longer than this is opened again. */
const maxFailingMs = 60_000;

/**
 * Guards the steps of a loop against a database that is busy or full for a moment. The guard gives false when the
 * step failed so: the loop waits before it goes on. Throws what is no database error, and what lasts over 60 s.
 */
export function createErrorGuard(clock: Clock, log: Log): (step: () => void) => boolean {
  let failingSinceMs: number | null = null;
  return (step) => {
    try {
      step();
      failingSinceMs = null;
      return true;
    } catch (thrown) {
      const error = databaseError("the mirror", thrown);
      if (!(error instanceof MirrorError) || error.kind !== "database") throw error;
      if (failingSinceMs === null) log.warn(messageOf(error), { hint: error.hint });
      failingSinceMs ??= clock.monotonicMs();
      if (clock.monotonicMs() - failingSinceMs > maxFailingMs) throw error;
      return false;
    }
  };
}

/** How long SQLite waits for another program's lock; the service gives up on a delivery after 10 s. */
const busyTimeoutMs = 1_000;
const failingTimeoutMs = 20;

/**
 * Lets SQLite retry the steps of a receiver while another program holds the database: for 1 s, and for 20 ms only
 * after a step that waited in vain, until one succeeds. Waiting blocks the only thread there is, so deliveries are
 * refused at once meanwhile. Throws what the step throws.
 */
export function createBusyRetry(db: Db): <T>(step: () => T) => T {
  let waitsMs = 0;
  const setTimeoutMs = (timeoutMs: number) => {
    if (waitsMs !== timeoutMs) db.pragma(`busy_timeout = ${timeoutMs}`);
    waitsMs = timeoutMs;
  };
  setTimeoutMs(busyTimeoutMs);
  return (step) => {
    try {
      const result = step();
      setTimeoutMs(busyTimeoutMs);
      return result;
    } catch (error) {
      const isDatabaseError = error instanceof MirrorError && error.kind === "database";
      if (isDatabaseError && db.open) setTimeoutMs(failingTimeoutMs);
      throw error;
    }
  };
}
