import { MirrorError, messageOf, type ErrorKind } from "../../base/errors.ts";
import type { Log } from "../../base/logger.ts";
import {
  ContradictionError,
  InvalidError,
  NotFoundError,
  ServiceError,
} from "../../connector/service-errors.ts";
import type { WorkItem } from "../../state/work-item.ts";
import {
  itemRetryDelayMs,
  mostAttempts,
  mostContradictions,
  retryPauseMs,
  mostRetries,
} from "../context/limits.ts";
import type { Outage, Tally } from "../context/tally.ts";
import { refusesPageSize } from "../plan/list-reads.ts";
import { isoTime, type Clock } from "../../base/clock.ts";
import { backoffMs } from "../../base/retry.ts";
import { formatDuration } from "../../base/units.ts";

/** What differs between a run, which ends, and the event worker, which does not. */
export interface RetryPolicy {
  /** Is the work over when nothing is due and nothing in flight? Rechecks are left to others then. */
  readonly ends: boolean;
  /** Nothing is due and nothing is in flight. */
  idle?(): void;
  succeeded(item: WorkItem): void;
  judge(error: unknown, item: WorkItem): FailureOutcome | Promise<FailureOutcome>;
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
    add({ id }: WorkItem, successes: number) {
      const before = known.get(id);
      const isOwn = before !== undefined && successes > before.successes;
      const failures = { all: (before?.all ?? 0) + 1, own: (before?.own ?? 1) + Number(isOwn) };
      known.set(id, { ...failures, successes });
      return { ...failures, isOwn };
    },
    forget: ({ id }: WorkItem) => known.delete(id),
  };
}

export type FailureOutcome =
  /** Nothing else can work either: the run ends. `because`: a better reason, found out since. */
  | { readonly kind: "stop"; readonly because?: unknown }
  /** A limit of the user was reached: requests in flight may finish, no new ones begin. */
  | { readonly kind: "drain" }
  /** The record's own route answered 404: it may be deleted. */
  | { readonly kind: "missing" }
  /** The parent's list was refused: does the parent still exist? */
  | { readonly kind: "check parent" }
  /** The service refuses a list's order or the size of its pages. */
  | { readonly kind: "other list form" }
  /** The resource's list is refused; other resources are not. */
  | { readonly kind: "hold"; readonly why: "failed" | "forbidden" }
  /** Try again and count an attempt. */
  | { readonly kind: "retry"; readonly afterMs: number }
  /** Try again without counting an attempt: the failure is not this record's own. */
  | { readonly kind: "postpone"; readonly afterMs: number }
  /** The work item is set aside as a dead letter; others go on. */
  | { readonly kind: "dead" };

/** What this error means for this work item, by itself. Pure. */
export function failureOutcome(error: unknown, item: WorkItem): FailureOutcome {
  if (!(error instanceof MirrorError)) return { kind: "stop" };
  if (error.kind === "stopped") return { kind: "drain" };
  if (["forbidden", "not_found", "invalid"].includes(error.kind)) return refused(error, item);
  if (error instanceof ContradictionError) {
    if (item.attempts + 1 >= mostContradictions) return { kind: "dead" };
    return { kind: "retry", afterMs: retryPauseMs(item.attempts + 1) };
  }
  if (error.kind === "protocol" && !error.retryable) return { kind: "dead" };
  if (!mayPass(error)) return { kind: "stop" };
  if (item.attempts + 1 >= mostAttempts) return { kind: "dead" };
  return { kind: "retry", afterMs: itemRetryDelayMs(item.attempts) };
}

/** 403, 404 or 422: of a list it concerns the resource, else one record. */
function refused(error: MirrorError, { kind }: WorkItem): FailureOutcome {
  if (error.kind === "forbidden")
    return kind === "list" ? { kind: "hold", why: "forbidden" } : { kind: "dead" };
  if (error instanceof InvalidError && (kind === "list" || (kind === "child" && refusesPageSize(error))))
    return { kind: "other list form" };
  if (kind === "child") return { kind: "check parent" };
  if (error.kind === "not_found" && (kind === "detail" || kind === "confirm")) return { kind: "missing" };
  return error.kind === "invalid" && kind !== "list" ? { kind: "dead" } : { kind: "hold", why: "failed" };
}

const longestPostponeMs = 60_000;
/** So many failures without an answer in between end the engine's work, although the company can be identified. */
const mostFailuresInARow = 12;

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
  const suspect = (item: WorkItem): FailureOutcome => {
    const { all, isOwn } = failures.add(item, successes);
    const afterMs = Math.min(longestPostponeMs, itemRetryDelayMs(all));
    if (!isOwn) return { kind: "postpone", afterMs };
    if (item.attempts + 1 < mostAttempts) return { kind: "retry", afterMs };
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
    succeeded(item: WorkItem) {
      successes += 1;
      failures.forget(item);
      answered();
    },
    async judge(error: unknown, item: WorkItem): Promise<FailureOutcome> {
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
      if (failuresInARow >= mostFailuresInARow) return { kind: "stop" };
      return isOddAnswer(error) ? outcome : suspect(item);
    },
  } satisfies RetryPolicy;
}

/** One refused record holds no resource, and an unforeseen error concerns its record only. */
function outcomeForOne(error: unknown, item: WorkItem): FailureOutcome {
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

const pauses = { baseMs: 2_000, maxMs: 60_000 };

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
  const pauseMs = Math.max(backoffMs(probes + 1, pauses), Math.min(askedMs, pauses.maxMs));
  const probeAtMs = Math.max(nowMs, Math.min(nowMs + pauseMs, untilMs));
  return { sinceMs, untilMs, probeAtMs, probes, error };
}

interface BatchParts {
  readonly clock: Clock;
  readonly log: Log;
  /** Progress reads the outage here. */
  readonly tally: Tally;
  /** From the first failure to the next success. */
  readonly patienceMs: number;
  /** Ends every wait. */
  readonly ended: AbortSignal;
}

/**
 * A run's policy: it ends when nothing of its own is due, and waits for items that failed a moment ago, not for
 * rechecks. A failure that may pass is the item's own only where others were answered between two of its failures:
 * then it is tried again 5 times over a minute and set aside. Otherwise the service may be away: the run waits, and one
 * request at a time asks for it. It is the only owner of that wait: the transport sends requests of a run once.
 */
export class BatchRetryPolicy<T> implements RetryPolicy {
  readonly ends = true;
  outage: Outage | null = null;
  private readonly parts: BatchParts;
  private readonly ask: () => Promise<T>;
  private readonly own = ownFailures();
  /** Answers 200 so far: a failure with one before and one after it is not the service's. */
  private successes = 0;
  /** Resources whose last answer was a failure. */
  private readonly failing = new Set<string>();

  /** `ask` reads something that always exists. */
  constructor(parts: BatchParts, ask: () => Promise<T>) {
    this.parts = parts;
    this.ask = ask;
  }

  isFailing(resource: string): boolean {
    return this.failing.has(resource);
  }

  async probe(): Promise<void> {
    await this.askOnce();
  }

  /** Asks until the service answers. Throws what does not pass, what ends the run, and `stopped`. */
  async untilAnswered(): Promise<T> {
    const { clock, ended, tally } = this.parts;
    for (;;) {
      const asked = await this.askOnce();
      if (asked) return asked.answer;
      const { probeAtMs = 0, error = null } = this.outage ?? {};
      await clock.sleep(Math.max(0, probeAtMs - clock.monotonicMs()), ended);
      if (ended.aborted)
        throw new MirrorError("stopped", `stopped while waiting for the service: ${messageOf(error)}`, {
          hint: "Run again when the service answers.",
        });
      tally.requests.retried += 1;
    }
  }

  succeeded(item: WorkItem): void {
    this.successes += 1;
    this.answered();
    this.own.forget(item);
    this.failing.delete(item.resource);
  }

  judge(error: unknown, item: WorkItem): FailureOutcome {
    if (!mayPass(error)) {
      if (error instanceof ServiceError && error.status !== null) this.answered();
      return failureOutcome(error, item);
    }
    const because = this.failed(error);
    if (because !== null) return { kind: "stop", because };
    this.failing.add(item.resource);
    const { own, isOwn } = this.own.add(item, this.successes);
    if (own > mostRetries) return { kind: "dead" };
    return { kind: isOwn ? "retry" : "postpone", afterMs: retryPauseMs(own) };
  }

  /** Null: the service may be away. Throws what ends the run. */
  private async askOnce(): Promise<{ readonly answer: T } | null> {
    try {
      const answer = await this.ask();
      this.successes += 1;
      this.answered();
      return { answer };
    } catch (error) {
      const ending = mayPass(error) ? this.failed(error) : error;
      if (ending !== null) throw ending;
      return null;
    }
  }

  /** The service answered, be it with a refusal. */
  private answered(): void {
    const { clock, log } = this.parts;
    const { outage } = this;
    if (outage && outage.probes > 0)
      log.info("the service answers again", { after_ms: Math.round(clock.monotonicMs() - outage.sinceMs) });
    this.set(null);
  }

  /** One failure that may pass. Returns the error to end with when the run has waited long enough, else null. */
  private failed(error: MirrorError): MirrorError | null {
    const { clock, patienceMs } = this.parts;
    const nowMs = clock.monotonicMs();
    const before = this.outage;
    const outage = outageAfter(before, { error, nowMs }, patienceMs);
    this.set(outage);
    if (nowMs >= outage.untilMs) return givenUp(outage, nowMs);
    if (before && outage.probes > before.probes) this.logWait(outage, nowMs);
    return null;
  }

  private set(outage: Outage | null): void {
    this.outage = outage;
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
  const kept = "Everything committed is kept: run again to go on. http.patience sets how long a run waits.";
  const message = `the service gave no usable answer for ${forText}: ${messageOf(error)}`;
  const hint = error.hint ? `${error.hint}. ${kept}` : kept;
  return new MirrorError(error.kind, message, { retryable: true, hint, cause: error });
}
