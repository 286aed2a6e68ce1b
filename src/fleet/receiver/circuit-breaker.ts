import type { Clock } from "../../base/clock.ts";
import { hintOf, messageOf, type MirrorError } from "../../base/errors.ts";
import type { Log } from "../../base/logger.ts";
import { Semaphore } from "../../base/semaphore.ts";
import { isPostgresAway, PostgresError } from "../postgres/postgres-error.ts";

interface BreakerParts {
  /** Rejects while Postgres does not answer. */
  readonly probe: () => Promise<unknown>;
  readonly clock: Clock;
  readonly log: Log;
  /** Ends the probing. */
  readonly closed: AbortSignal;
}

/** Transactions at once: fewer than the pool has connections, so that none waits for one. */
const mostAtOnce = 8;
/** The service gives up on an attempt after 10 s. */
const waitMs = 4_000;
const stepMs = 4_000;
const probeEveryMs = 500;

/**
 * Refuses at once what needs Postgres while Postgres is away, and lets it through again when a probe succeeds. While
 * Postgres hangs, only those that are on their way wait, and no longer than 4 s.
 */
export class CircuitBreaker {
  private readonly parts: BreakerParts;
  private readonly places = new Semaphore(mostAtOnce);
  private away: MirrorError | null = null;

  constructor(parts: BreakerParts) {
    this.parts = parts;
  }

  /** Why everything is refused; null: nothing is. */
  get problem(): string | null {
    return this.away && messageOf(this.away);
  }

  /**
   * Runs a step that may be made twice: where its time is over nobody knows whether it was made.
   *
   * @throws what the step throws; a retryable MirrorError `database` where it was refused or took too long
   */
  async run<T>(step: () => Promise<T>): Promise<T> {
    const { clock } = this.parts;
    this.assertAnswers();
    const askedMs = clock.monotonicMs();
    const release = await this.places.acquire();
    try {
      this.assertAnswers();
      if (clock.monotonicMs() - askedMs > waitMs)
        throw new PostgresError("too much waits for Postgres", { retryable: true });
      return await this.inTime(step);
    } finally {
      release?.();
    }
  }

  private async inTime<T>(step: () => Promise<T>): Promise<T> {
    const over = new AbortController();
    const timeout = this.parts.clock.sleep(stepMs, over.signal).then(() => {
      throw new PostgresError(`Postgres does not answer within ${stepMs / 1_000} s`, {
        retryable: true,
      });
    });
    try {
      return await Promise.race([step(), timeout]);
    } catch (error) {
      if (isPostgresAway(error)) this.trip(error);
      throw error;
    } finally {
      timeout.catch(() => undefined);
      over.abort();
    }
  }

  private assertAnswers(): void {
    if (this.away) throw this.away;
  }

  private trip(error: MirrorError): void {
    if (this.away) return;
    this.away = error;
    void this.probeUntilBack(error);
  }

  /** The first probe is made at once: where only one transaction failed, hardly anything is refused. */
  private async probeUntilBack(failure: MirrorError): Promise<void> {
    const { probe, clock, log, closed } = this.parts;
    for (let probes = 1; !closed.aborted; probes++) {
      const isBack = await probe().then(
        () => true,
        () => false,
      );
      if (isBack) {
        this.away = null;
        if (probes > 1) log.info("Postgres answers again: deliveries are received");
        return;
      }
      if (probes === 1)
        log.error(
          "Postgres is away: deliveries are refused until it answers, and the service sends them again",
          {
            error: messageOf(failure),
            ...hintOf(failure),
          },
        );
      await clock.sleep(probeEveryMs, closed);
    }
  }
}
