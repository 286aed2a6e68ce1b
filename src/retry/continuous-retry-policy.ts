import { MirrorError, messageOf } from "../base/errors.ts";
import type { Log } from "../base/logger.ts";
import { ContradictionError, NotFoundError } from "../connector/service-errors.ts";
import { backoffMs, retries } from "./retry-limits.ts";
import { failureOutcome, ownFailures } from "./retry-policy.ts";
import type { FailedItem, FailureOutcome, RetryPolicy } from "./retry-policy.ts";

/**
 * The event worker's policy: it never ends, and it is slow to blame a record. A failure may mean that the service
 * is away or that one record is broken; a probe shows which. Only an item that fails while others succeed
 * uses up attempts, so that no outage of any length makes a dead letter of an event.
 *
 * @param ask reads something that always exists
 * @param onWorking called when a record was read, or there is nothing to do
 */
export function continuousRetryPolicy(log: Log, ask: () => Promise<unknown>, onWorking: () => void) {
  const failures = ownFailures();
  let successes = 0;
  let failuresInARow = 0;
  let probing: Promise<unknown> | null = null;
  const answered = () => {
    failuresInARow = 0;
    onWorking();
  };
  const probe = async () => {
    try {
      await ask();
      return null;
    } catch (error) {
      return error;
    }
  };
  /** One probe at a time, for all items that fail meanwhile. Null: the service answers, else the error. */
  const probeOnce = () => (probing ??= probe().finally(() => (probing = null)));
  /** Others succeeded since this item failed last: the failure is its own and counts as an attempt. */
  const suspect = (item: FailedItem): FailureOutcome => {
    const { all, isOwn } = failures.add(item, successes);
    const afterMs = backoffMs(all + 1, retries.read);
    if (!isOwn) return { kind: "postpone", afterMs };
    if (item.attempts + 1 < retries.read.attempts) return { kind: "retry", afterMs };
    failures.forget(item);
    return { kind: "dead" };
  };
  return {
    ends: false,
    /** An outage ends the engine's work; the event worker pauses. */
    outage: null,
    idle() {
      if (failuresInARow === 0) onWorking();
    },
    succeeded(item: FailedItem) {
      successes += 1;
      failures.forget(item);
      answered();
    },
    async judge(error: unknown, item: FailedItem): Promise<FailureOutcome> {
      const outcome = outcomeForOne(error, item);
      if (outcome.kind === "stop" || outcome.kind === "drain") return outcome;
      const isAway =
        error instanceof MirrorError && ["network", "unavailable", "rate_limited"].includes(error.kind);
      if (!isAway && !isOddAnswer(error)) {
        if (!(error instanceof MirrorError)) {
          const stack = error instanceof Error ? error.stack : undefined;
          log.error(`${item.resource} ${item.target}: ${messageOf(error)}`, { stack });
        }
        answered();
        return outcome;
      }
      failuresInARow += 1;
      const why = await probeOnce();
      if (why instanceof MirrorError && why.kind === "stopped") return { kind: "drain" };
      if (why !== null) {
        failuresInARow = 0;
        return { kind: "stop", because: why };
      }
      if (failuresInARow >= retries.events.failuresInARow) return { kind: "stop" };
      return isOddAnswer(error) ? outcome : suspect(item);
    },
  } satisfies RetryPolicy;
}

/** One refused record holds no resource, and an unforeseen error concerns its record only. */
function outcomeForOne(error: unknown, item: FailedItem): FailureOutcome {
  if (!(error instanceof MirrorError)) return { kind: "dead" };
  const outcome = failureOutcome(error, item);
  return outcome.kind === "hold" ? { kind: "dead" } : outcome;
}

/** An answer that is not the service's own: the page of a proxy before it, or a broken record. */
function isOddAnswer(error: unknown): boolean {
  if (error instanceof ContradictionError) return false;
  if (error instanceof MirrorError && error.kind === "protocol") return true;
  return error instanceof NotFoundError && error.serviceMessage === null;
}
