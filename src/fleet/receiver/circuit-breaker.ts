import type { Clock } from "../../base/clock.ts";
import { hintOf, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/logger.ts";
import { Semaphore } from "../../base/semaphore.ts";
import { isPostgresAway, PostgresError } from "../postgres/postgres-error.ts";

/** Transactions at once: fewer than the pool has connections, so that none waits for one. */
const mostAtOnce = 8;
/** The service gives up on an attempt after 10 s. */
const waitMs = 4_000;
const stepMs = 4_000;
const probeEveryMs = 500;

export type CircuitBreaker = ReturnType<typeof createCircuitBreaker>;

/**
 * Refuses at once what needs Postgres while Postgres is away, and lets it through again when a probe succeeds. While
 * Postgres hangs, only those that are on their way wait, and no longer than 4 s.
 *
 * @param probe rejects while Postgres does not answer
 * @param closed ends the probing
 */
export function createCircuitBreaker(
  probe: () => Promise<unknown>,
  clock: Clock,
  log: Log,
  closed: AbortSignal,
) {
  const places = new Semaphore(mostAtOnce);
  let away: PostgresError | null = null;
  const assertAnswers = () => {
    if (away) throw away;
  };
  /** The first probe is made at once: where only one transaction failed, hardly anything is refused. */
  const probeUntilBack = async (failure: PostgresError) => {
    away = failure;
    for (let probes = 1; !closed.aborted; probes++) {
      try {
        await probe();
        away = null;
        if (probes > 1) log.info("Postgres answers again: deliveries are received");
        return;
      } catch {
        const what =
          "Postgres is away: deliveries are refused until it answers, and the service sends them again";
        if (probes === 1) log.error(what, { error: messageOf(failure), ...hintOf(failure) });
      }
      await clock.sleep(probeEveryMs, closed);
    }
  };
  const inTime = async <T>(step: () => Promise<T>): Promise<T> => {
    const over = new AbortController();
    const timeout = clock.sleep(stepMs, over.signal).then(() => {
      throw new PostgresError(`Postgres does not answer within ${stepMs / 1_000} s`, { retryable: true });
    });
    try {
      return await Promise.race([step(), timeout]);
    } catch (error) {
      if (isPostgresAway(error) && !away) void probeUntilBack(error);
      throw error;
    } finally {
      timeout.catch(() => undefined);
      over.abort();
    }
  };
  return {
    /** Why everything is refused; null: nothing is. */
    problem: () => away && messageOf(away),
    /**
     * Runs a step that may be made twice: where its time is over nobody knows whether it was made.
     *
     * @throws what the step throws; a retryable MirrorError `database` where it was refused or took too long
     */
    run: async <T>(step: () => Promise<T>): Promise<T> => {
      assertAnswers();
      const askedMs = clock.monotonicMs();
      using _ = await places.acquire();
      assertAnswers();
      if (clock.monotonicMs() - askedMs > waitMs)
        throw new PostgresError("too much waits for Postgres", { retryable: true });
      return await inTime(step);
    },
  };
}
