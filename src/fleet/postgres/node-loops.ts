import type { Clock } from "../../base/clock.ts";
import { hintOf, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/logger.ts";

export type Pause = number | (() => number);
export type NodeLoops = ReturnType<typeof createNodeLoops>;

/**
 * Repeats a node's steps until they are to end. While Postgres is away all of them fail: that is one line, and another
 * when it is back. A step that may fail for another reason has loops of its own.
 *
 * Guarantee: a step that fails ends neither itself nor another.
 *
 * @param again what is said when no step fails any more
 */
export function createNodeLoops(clock: Pick<Clock, "sleep">, log: Log, again = "Postgres is reached again") {
  const failing = new Set<string>();
  let problem: string | null = null;
  const succeeded = (what: string) => {
    if (!failing.delete(what) || failing.size > 0) return;
    problem = null;
    log.info(again);
  };
  const failed = (what: string, error: unknown) => {
    const level = failing.size === 0 ? "warn" : "debug";
    failing.add(what);
    problem = messageOf(error);
    log[level](`${what} failed; it is tried again`, { error: problem, ...hintOf(error) });
  };
  return {
    /** Why the last one failed; null: none did since all succeeded. */
    problem: () => problem,
    /**
     * Resolves when `closed` has aborted and the step under way has ended. Never rejects.
     *
     * @param what completes "… failed; it is tried again"
     * @param everyMs pause after each step
     */
    repeat: async (what: string, everyMs: Pause, step: () => Promise<void>, closed: AbortSignal) => {
      const pauseMs = typeof everyMs === "number" ? () => everyMs : everyMs;
      for (; !closed.aborted; await clock.sleep(pauseMs(), closed)) {
        try {
          await step();
          succeeded(what);
        } catch (error) {
          if (!closed.aborted) failed(what, error);
        }
      }
    },
  };
}
