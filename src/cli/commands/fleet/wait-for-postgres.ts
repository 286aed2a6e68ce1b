import { throwIfAborted } from "../../../base/cancellation.ts";
import type { Clock } from "../../../base/clock.ts";
import { messageOf, type MirrorError } from "../../../base/errors.ts";
import type { Log } from "../../../base/logger.ts";
import { backoffMs, type Backoff } from "../../../base/retry.ts";
import { isPostgresAway } from "../../../fleet/postgres/postgres-error.ts";

/** How long a starting process waits for Postgres. */
export interface PostgresWait {
  readonly clock: Clock;
  readonly log: Log;
  /** Ends the wait. */
  readonly signal: AbortSignal;
  /** Called with each failure that is waited out; null: the wait is over. */
  readonly onProblem?: (problem: string | null) => void;
  /** @default 10 minutes: longer than a restart or a failover, and who restarts a process that ended gets an exit code */
  readonly longestMs?: number;
}

const longestWaitMs = 600_000;
/** Between two attempts. */
const pauses: Backoff = { baseMs: 500, maxMs: 5_000 };
/** Between two lines of the log. With an attempt that hangs for 20 s no minute is silent. */
const silences: Backoff = { baseMs: 5_000, maxMs: 30_000 };

/**
 * Makes a step that needs Postgres, and makes it again while Postgres is away. What no wait makes right (a wrong
 * password, no such database, tables of a newer version) fails at once.
 *
 * @throws MirrorError `stopped` when the signal has aborted; what the step threw last, after `longestMs` at most
 */
export async function waitForPostgres<T>(wait: PostgresWait, step: () => Promise<T>): Promise<T> {
  const { clock, log, signal, onProblem, longestMs = longestWaitMs } = wait;
  const startedMs = clock.monotonicMs();
  const logWait = createWaitLog(wait, startedMs + longestMs);
  for (let failures = 0; ;) {
    throwIfAborted(signal, "stopped while waiting for Postgres");
    try {
      const result = await step();
      if (failures > 0)
        log.info("Postgres answers", { waited_ms: Math.round(clock.monotonicMs() - startedMs) });
      onProblem?.(null);
      return result;
    } catch (error) {
      const pauseMs = backoffMs(++failures, pauses);
      if (!isPostgresAway(error) || clock.monotonicMs() - startedMs + pauseMs > longestMs) throw error;
      logWait(error);
      onProblem?.(messageOf(error));
      await clock.sleep(pauseMs, signal);
    }
  }
}

/** Logs a failure at once, and then in growing intervals. */
function createWaitLog({ clock, log }: PostgresWait, endMs: number): (error: MirrorError) => void {
  let [nextMs, lines] = [0, 0];
  return ({ message, hint }) => {
    const nowMs = clock.monotonicMs();
    if (nowMs < nextMs) return;
    nextMs = nowMs + backoffMs(++lines, silences);
    const leftSeconds = Math.round((endMs - nowMs) / 1_000);
    log.warn("waiting for Postgres", { error: message, hint, left_s: leftSeconds });
  };
}
