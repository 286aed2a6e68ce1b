import { MirrorError } from "../../base/errors.ts";
import type { Db } from "../../store/database.ts";

/** For another program's lock; the service itself gives up on a delivery after ten seconds. */
const patienceMs = 1_000;
const impatienceMs = 20;

/**
 * A lock is waited for on the only thread there is. So the connection of a receiver waits less long than that
 * of a run, and where it waited in vain, deliveries are sent away at once until one gets through again.
 */
export function createBusyRetry(db: Db): <T>(step: () => T) => T {
  const wait = (timeoutMs: number) => void db.pragma(`busy_timeout = ${timeoutMs}`);
  let failing = false;
  wait(patienceMs);
  return (step) => {
    try {
      const result = step();
      if (failing) wait(patienceMs);
      failing = false;
      return result;
    } catch (error) {
      if (!failing && db.open && error instanceof MirrorError && error.kind === "database") {
        failing = true;
        wait(impatienceMs);
      }
      throw error;
    }
  };
}
