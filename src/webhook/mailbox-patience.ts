import { MirrorError } from "../base/errors.ts";
import type { Db } from "../store/sqlite.ts";

/** For the first group that finds the database locked; those right after it only look. */
const patienceMs = 1_000;
const impatienceMs = 20;

/**
 * A lock of another program is waited for on the only thread there is: a receiver waits less long than a run,
 * and where it waited in vain, deliveries are sent away at once until one gets through again.
 */
export function createPatience(db: Db): <T>(step: () => T) => T {
  const usualMs = Number(db.pragma("busy_timeout", { simple: true }));
  let failing = false;
  return (step) => {
    db.pragma(`busy_timeout = ${failing ? impatienceMs : patienceMs}`);
    try {
      const result = step();
      failing = false;
      return result;
    } catch (error) {
      failing = error instanceof MirrorError && error.kind === "database";
      throw error;
    } finally {
      if (db.open) db.pragma(`busy_timeout = ${usualMs}`);
    }
  };
}
