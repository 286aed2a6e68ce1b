import type { Clock } from "../../base/clock.ts";
import { isoTime } from "../../base/clock.ts";
import { messageOf, MirrorError, type ErrorKind } from "../../base/errors.ts";
import type { Log } from "../../base/logger.ts";
import { backoffMs } from "../../base/retry.ts";
import { formatDuration } from "../../base/units.ts";
import { ContradictionError, ServiceError } from "../../connector/service-errors.ts";
import type { OutageView, Tally } from "../context/tally.ts";

/** A time in which the service gives no usable answer, from its first failure on. */
export interface Outage extends OutageView {
  /** Requests that failed since, those in flight at the first failure not counted. */
  readonly probes: number;
  readonly error: MirrorError;
}

/** Pauses between two probes. */
const pauses = { baseMs: 2_000, maxMs: 60_000 };

const passing = new Set<ErrorKind>(["unavailable", "network", "rate_limited", "protocol"]);

/** May this failure pass, or concern the whole service? Others concern a record, a resource or the run. */
export function mayPass(error: unknown): error is MirrorError {
  const isWrong = error instanceof ContradictionError;
  return error instanceof MirrorError && error.retryable && passing.has(error.kind) && !isWrong;
}

/** The outage after one more failure. What was in flight when it began does not make the pauses longer. Pure. */
export function outageAfter(
  before: Outage | null,
  { error, nowMs }: { readonly error: MirrorError; readonly nowMs: number },
  longestOutageMs: number,
): Outage {
  if (before && nowMs < before.probeAtMs) return before;
  const sinceMs = before?.sinceMs ?? nowMs;
  const untilMs = sinceMs + longestOutageMs;
  const probes = before ? before.probes + 1 : 0;
  const askedMs = error instanceof ServiceError ? (error.retryAfterMs ?? 0) : 0;
  const pauseMs = Math.max(backoffMs(probes + 1, pauses), Math.min(askedMs, pauses.maxMs));
  const probeAtMs = Math.max(nowMs, Math.min(nowMs + pauseMs, untilMs));
  return { sinceMs, untilMs, probeAtMs, probes, error };
}

export interface WatchParts {
  readonly clock: Clock;
  readonly log: Log;
  /** Progress reads the outage here. */
  readonly tally: Tally;
  /** From the first failure to the next success. */
  readonly longestOutageMs: number;
  /** Ends every wait. */
  readonly ended: AbortSignal;
}

/**
 * Waits for a service that is away, for a run. It is the only owner of that wait: requests of a run are sent once by
 * the transport, and every failure comes here. While the service is away one request at a time asks for it.
 */
export class OutageWatch {
  private readonly parts: WatchParts;
  private current: Outage | null = null;
  private answers200 = 0;

  constructor(parts: WatchParts) {
    this.parts = parts;
  }

  /** Null: the service answers. */
  get outage(): Outage | null {
    return this.current;
  }

  /** Answers 200 so far: a failure with one before and one after it is not the service's. */
  get successes(): number {
    return this.answers200;
  }

  succeeded(): void {
    this.answers200 += 1;
    this.answered();
  }

  /** The service answered, be it with a refusal. */
  answered(): void {
    const { clock, log } = this.parts;
    const outage = this.current;
    if (outage && outage.probes > 0)
      log.info("the service answers again", { after_ms: Math.round(clock.monotonicMs() - outage.sinceMs) });
    this.set(null);
  }

  /** One failure that may pass. Returns the error to end with when the run has waited long enough, else null. */
  failed(error: MirrorError): MirrorError | null {
    const { clock, longestOutageMs } = this.parts;
    const nowMs = clock.monotonicMs();
    const before = this.current;
    const outage = outageAfter(before, { error, nowMs }, longestOutageMs);
    this.set(outage);
    if (nowMs >= outage.untilMs) return givenUp(outage, nowMs);
    if (before && outage.probes > before.probes) this.logWait(outage, nowMs);
    return null;
  }

  /** Repeats a request until the service answers it. Throws what does not pass, what `failed` returns, and `stopped`. */
  async untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
    const { clock, ended, tally } = this.parts;
    for (;;) {
      try {
        const answer = await ask();
        this.succeeded();
        return answer;
      } catch (error) {
        this.failedOrThrow(error);
      }
      const { probeAtMs = 0, error = null } = this.current ?? {};
      await clock.sleep(Math.max(0, probeAtMs - clock.monotonicMs()), ended);
      if (ended.aborted)
        throw new MirrorError("stopped", `stopped while waiting for the service: ${messageOf(error)}`, {
          hint: "Run again when the service answers.",
        });
      tally.requests.retried += 1;
    }
  }

  /** One request that asks whether the service answers. Throws what ends the run. */
  async probe(ask: () => Promise<unknown>): Promise<void> {
    try {
      await ask();
      this.succeeded();
    } catch (error) {
      this.failedOrThrow(error);
    }
  }

  private failedOrThrow(error: unknown): void {
    const ending = mayPass(error) ? this.failed(error) : error;
    if (ending !== null) throw ending;
  }

  private set(outage: Outage | null): void {
    this.current = outage;
    this.parts.tally.outage = outage;
  }

  private logWait({ probes, sinceMs, untilMs, probeAtMs, error }: Outage, nowMs: number): void {
    const { clock, log } = this.parts;
    const facts = {
      since: isoTime(clock.nowMs() - (nowMs - sinceMs)),
      error: messageOf(error),
      next_try_in_ms: Math.round(probeAtMs - nowMs),
      gives_up_in_ms: Math.round(untilMs - nowMs),
    };
    if (probes === 1) log.warn("the service gives no usable answer: waiting for it, and asking again", facts);
    else log.info("still waiting for the service", facts);
  }
}

function givenUp({ sinceMs, error }: Outage, nowMs: number): MirrorError {
  const forText = formatDuration(nowMs - sinceMs);
  return new MirrorError(
    error.kind,
    `the service gave no usable answer for ${forText}: ${messageOf(error)}`,
    {
      retryable: true,
      hint: [
        error.hint,
        "Everything committed is kept: run again to go on. http.patience sets how long a run waits.",
      ]
        .filter(Boolean)
        .join(". "),
      cause: error,
    },
  );
}
