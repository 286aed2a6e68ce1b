import type { Clock } from "../base/clock.ts";
import { messageOf, MirrorError } from "../base/errors.ts";
import type { Log } from "../base/logger.ts";
import { databaseError } from "./database.ts";

/** A database that fails for longer than this is opened anew. */
const patienceMs = 60_000;

/**
 * For a loop's step: a database that is busy or full for a moment is no reason to end the loop. False: it
 * was, and to try again at once would only make everybody wait.
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
      if (clock.monotonicMs() - failingSinceMs > patienceMs) throw error;
      return false;
    }
  };
}
