import { isoTime, type Clock } from "../base/clock.ts";
import { MirrorError, messageOf, type ErrorKind } from "../base/errors.ts";
import type { WorkKind } from "../base/lane.ts";
import type { Log } from "../base/logger.ts";
import { formatDuration } from "../base/units.ts";
import {
  ContradictionError,
  InvalidError,
  NotFoundError,
  ServiceError,
} from "../connector/service-errors.ts";
import { backoffMs, retries } from "./retry-limits.ts";

interface FailedItem {
  readonly id: number;
  readonly kind: WorkKind;
  readonly resource: string;
  readonly target: string;
  /** Earlier ones. */
  readonly attempts: number;
}

/** A time in which the service gives no usable answer, from its first failure on. Times are monotonic, ms. */
export interface Outage {
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly probeAtMs: number;
  /** Requests that failed since, those in flight at the first failure not counted. */
  readonly probes: number;
  readonly error: MirrorError;
}

/** What differs between a run, which ends, and the event worker, which does not. */
export interface RetryPolicy {
  /** Is the work over when nothing is due and nothing in flight? Rechecks are left to others then. */
  readonly ends: boolean;
  /** Nothing is due and nothing is in flight. */
  idle?(): void;
  succeeded(item: FailedItem): void;
  judge(error: unknown, item: FailedItem): FailureOutcome | Promise<FailureOutcome>;
  /** While it is set, one request at a time is sent, from `probeAtMs` on; null where the service answers. */
  readonly outage: Outage | null;
  /** Did this resource fail last? Another one shows better whether the service answers. */
  isFailing?(resource: string): boolean;
  /** Asks whether the service answers, where no item can show it. Throws what ends the work. */
  probe?(): Promise<void>;
}

const passing = new Set<ErrorKind>(["unavailable", "network", "rate_limited", "protocol"]);

/** May this failure pass, or concern the whole service? Others concern a record, a resource or the run. */
export function mayPass(error: unknown): error is MirrorError {
  const isWrong = error instanceof ContradictionError;
  return error instanceof MirrorError && error.retryable && passing.has(error.kind) && !isWrong;
}

/** Separates an item's own failures from those of the service. */
function ownFailures() {
  const known = new Map<number, { readonly all: number; readonly own: number; readonly successes: number }>();
  return {
    /** `own`: failures after which others succeeded before the next one, and the last. `isOwn`: others succeeded since the one before. */
    add({ id }: FailedItem, successes: number) {
      const before = known.get(id);
      const isOwn = before !== undefined && successes > before.successes;
      const failures = { all: (before?.all ?? 0) + 1, own: (before?.own ?? 1) + Number(isOwn) };
      known.set(id, { ...failures, successes });
      return { ...failures, isOwn };
    },
    forget: ({ id }: FailedItem) => known.delete(id),
  };
}

export type FailureOutcome =
  /** Nothing else can work either: the run ends. `because`: a better reason, found out since. */
  | { readonly kind: "stop"; readonly because?: unknown }
  /** A limit of the user was reached: requests in flight may finish, no new ones begin. */
  | { readonly kind: "drain" }
  | { readonly kind: "missing" }
  /** The parent's list was refused: does the parent still exist? */
  | { readonly kind: "check parent" }
  /** The service refuses a list's order or the size of its pages. */
  | { readonly kind: "other list form" }
  /** The resource's list is refused; other resources are not. */
  | { readonly kind: "hold"; readonly why: "failed" | "forbidden" }
  | { readonly kind: "retry"; readonly afterMs: number }
  /** Try again without counting an attempt: the failure is not this record's own. */
  | { readonly kind: "postpone"; readonly afterMs: number }
  /** The work item is set aside as a dead letter; others go on. */
  | { readonly kind: "dead" };

/** What this error means for this work item, by itself. Pure. */
export function failureOutcome(error: unknown, item: FailedItem): FailureOutcome {
  if (!(error instanceof MirrorError)) return { kind: "stop" };
  if (error.kind === "stopped") return { kind: "drain" };
  const attempts = item.attempts + 1;
  if (["forbidden", "not_found", "invalid"].includes(error.kind)) return refused(error, item);
  if (error instanceof ContradictionError) {
    if (attempts >= retries.contradiction.attempts) return { kind: "dead" };
    return { kind: "retry", afterMs: backoffMs(attempts, retries.ownFailure) };
  }
  if (error.kind === "protocol" && !error.retryable) return { kind: "dead" };
  if (!mayPass(error)) return { kind: "stop" };
  if (attempts >= retries.read.attempts) return { kind: "dead" };
  return { kind: "retry", afterMs: backoffMs(attempts, retries.read) };
}

/** 403, 404 or 422: of a list it concerns the resource, else one record. */
function refused(error: MirrorError, { kind }: FailedItem): FailureOutcome {
  if (error.kind === "forbidden")
    return kind === "list" ? { kind: "hold", why: "forbidden" } : { kind: "dead" };
  if (error instanceof InvalidError && (kind === "list" || (kind === "child" && error.refusesPageSize())))
    return { kind: "other list form" };
  if (kind === "child") return { kind: "check parent" };
  if (error.kind === "not_found" && (kind === "detail" || kind === "confirm")) return { kind: "missing" };
  return error.kind === "invalid" && kind !== "list" ? { kind: "dead" } : { kind: "hold", why: "failed" };
}

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
