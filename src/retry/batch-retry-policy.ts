import { isoTime, type Clock } from "../base/clock.ts";
import { messageOf, MirrorError } from "../base/errors.ts";
import type { Log } from "../base/logger.ts";
import { formatDuration } from "../base/units.ts";
import { ServiceError } from "../connector/service-errors.ts";
import { backoffMs, retries } from "./retry-limits.ts";
import {
  failureOutcome,
  mayPass,
  ownFailures,
  type FailedItem,
  type FailureOutcome,
  type Outage,
} from "./retry-policy.ts";

/** The outage after one more failure. What was in flight when it began does not make the pauses longer. Pure. */
export function outageAfter(
  before: Outage | null,
  { error, nowMs }: { readonly error: MirrorError; readonly nowMs: number },
  patienceMs: number,
): Outage {
  if (before && nowMs < before.probeAtMs) return before;
  const sinceMs = before?.sinceMs ?? nowMs;
  const untilMs = sinceMs + patienceMs;
  const probes = before ? before.probes + 1 : 0;
  const askedMs = error instanceof ServiceError ? (error.retryAfterMs ?? 0) : 0;
  const pauseMs = Math.max(backoffMs(probes + 1, retries.run), Math.min(askedMs, retries.run.maxMs));
  const probeAtMs = Math.max(nowMs, Math.min(nowMs + pauseMs, untilMs));
  return { sinceMs, untilMs, probeAtMs, probes, error };
}

interface BatchParts {
  readonly clock: Clock;
  readonly log: Log;
  /** It keeps the outage: progress shows it. */
  readonly tally: { outage: Outage | null; readonly requests: { retried: number } };
  /** From the first failure to the next success. */
  readonly patienceMs: number;
  readonly ended: AbortSignal;
}

/**
 * A run's policy: it ends when nothing of its own is due, and waits for items that failed a moment ago, not for
 * rechecks. A failure that may pass is the item's own only where others were answered between two of its failures:
 * then it is tried again 5 times over a minute and set aside. Otherwise the service may be away: the run waits, and one
 * request at a time asks for it. It is the only owner of that wait: the transport sends requests of a run once.
 *
 * @param ask reads something that always exists
 */
export function batchRetryPolicy<T>(parts: BatchParts, ask: () => Promise<T>) {
  const { clock, tally, ended } = parts;
  const failures = ownFailures();
  const failing = new Set<string>();
  /** Answers 200 so far: a failure with one before and one after it is not the service's. */
  let successes = 0;
  /** Null: the service may be away. Throws what ends the run. */
  const askOnce = async (): Promise<{ readonly answer: T } | null> => {
    try {
      const answer = await ask();
      successes += 1;
      endOutage(parts);
      return { answer };
    } catch (error) {
      const ending = mayPass(error) ? addFailure(parts, error) : error;
      if (ending !== null) throw ending;
      return null;
    }
  };
  return {
    ends: true,
    get outage() {
      return tally.outage;
    },
    isFailing: (resource: string) => failing.has(resource),
    probe: async () => void (await askOnce()),
    /** Asks until the service answers. Throws what does not pass, what ends the run, and `stopped`. */
    async untilAnswered(): Promise<T> {
      for (;;) {
        const asked = await askOnce();
        if (asked) return asked.answer;
        const { probeAtMs = 0, error = null } = tally.outage ?? {};
        await clock.sleep(Math.max(0, probeAtMs - clock.monotonicMs()), ended);
        if (ended.aborted)
          throw new MirrorError("stopped", `stopped while waiting for the service: ${messageOf(error)}`, {
            hint: "Run again when the service answers.",
          });
        tally.requests.retried += 1;
      }
    },
    succeeded(item: FailedItem) {
      successes += 1;
      endOutage(parts);
      failures.forget(item);
      failing.delete(item.resource);
    },
    judge(error: unknown, item: FailedItem): FailureOutcome {
      if (!mayPass(error)) {
        if (error instanceof ServiceError && error.status !== null) endOutage(parts);
        return failureOutcome(error, item);
      }
      const because = addFailure(parts, error);
      if (because !== null) return { kind: "stop", because };
      failing.add(item.resource);
      const { own, isOwn } = failures.add(item, successes);
      if (own > retries.ownFailure.most) return { kind: "dead" };
      return { kind: isOwn ? "retry" : "postpone", afterMs: backoffMs(own, retries.ownFailure) };
    },
  };
}

/** The service answered, be it with a refusal. */
function endOutage({ clock, log, tally }: BatchParts): void {
  const { outage } = tally;
  if (outage && outage.probes > 0)
    log.info("the service answers again", { after_ms: Math.round(clock.monotonicMs() - outage.sinceMs) });
  tally.outage = null;
}

/** One failure that may pass. Returns the error to end with when the run has waited long enough, else null. */
function addFailure({ clock, log, patienceMs, tally }: BatchParts, error: MirrorError): MirrorError | null {
  const nowMs = clock.monotonicMs();
  const before = tally.outage;
  const outage = outageAfter(before, { error, nowMs }, patienceMs);
  tally.outage = outage;
  const { probes, sinceMs, untilMs, probeAtMs } = outage;
  if (nowMs >= untilMs) return givenUp(outage, nowMs);
  if (!before || probes === before.probes) return null;
  const facts = {
    since: isoTime(clock.nowMs() - (nowMs - sinceMs)),
    error: messageOf(error),
    next_try_in_ms: Math.round(probeAtMs - nowMs),
    gives_up_in_ms: Math.round(untilMs - nowMs),
  };
  if (probes === 1) log.warn("the service gives no usable answer: waiting for it, and asking again", facts);
  else log.info("still waiting for the service", facts);
  return null;
}

function givenUp({ sinceMs, error }: Outage, nowMs: number): MirrorError {
  const forText = formatDuration(nowMs - sinceMs);
  const kept = "Everything committed is kept: run again to go on. http.patience sets how long a run waits.";
  const message = `the service gave no usable answer for ${forText}: ${messageOf(error)}`;
  const hint = error.hint ? `${error.hint}. ${kept}` : kept;
  return new MirrorError(error.kind, message, { retryable: true, hint, cause: error });
}
