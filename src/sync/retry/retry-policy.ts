import { MirrorError, messageOf, type ErrorKind } from "../../base/errors.ts";
import type { Log } from "../../base/logger.ts";
import { ContradictionError, InvalidError, NotFoundError } from "../../connector/service-errors.ts";
import type { WorkItem } from "../../state/work-item.ts";
import { itemRetryDelayMs, mostAttempts, mostContradictions, retryPauseMs } from "../context/limits.ts";
import type { Outage } from "../context/tally.ts";
import { refusesPageSize } from "../plan/list-form.ts";

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

interface ItemFailures {
  readonly all: number;
  /** Those after which others succeeded before the next one, and the last. */
  readonly own: number;
  /** Others succeeded since this item failed last. */
  readonly isOwn: boolean;
}

/** Separates an item's own failures from those of the service. */
export class OwnFailures {
  private readonly known = new Map<number, ItemFailures & { readonly successes: number }>();

  add(item: WorkItem, successes: number): ItemFailures {
    const before = this.known.get(item.id);
    const isOwn = before !== undefined && successes > before.successes;
    const own = (before?.own ?? 1) + Number(isOwn);
    const failures = { all: (before?.all ?? 0) + 1, own, isOwn };
    this.known.set(item.id, { ...failures, successes });
    return failures;
  }

  forget(item: WorkItem): void {
    this.known.delete(item.id);
  }
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
 */
export class ContinuousRetryPolicy implements RetryPolicy {
  readonly ends = false;
  /** An outage ends the engine's work; the event worker pauses. */
  readonly outage = null;
  private readonly log: Log;
  private readonly ask: () => Promise<unknown>;
  private readonly onWorking: () => void;
  private readonly own = new OwnFailures();
  private successes = 0;
  private failuresInARow = 0;
  private probing: Promise<unknown> | null = null;

  /**
   * @param ask reads something that always exists
   * @param onWorking called when a record was read, or there is nothing to do
   */
  constructor(log: Log, ask: () => Promise<unknown>, onWorking: () => void) {
    this.log = log;
    this.ask = ask;
    this.onWorking = onWorking;
  }

  idle(): void {
    if (this.failuresInARow === 0) this.onWorking();
  }

  succeeded(item: WorkItem): void {
    this.successes += 1;
    this.own.forget(item);
    this.answered();
  }

  async judge(error: unknown, item: WorkItem): Promise<FailureOutcome> {
    const outcome = outcomeForOne(error, item);
    if (outcome.kind === "stop" || outcome.kind === "drain") return outcome;
    const isAway =
      error instanceof MirrorError && ["network", "unavailable", "rate_limited"].includes(error.kind);
    if (!isAway && !isOddAnswer(error)) {
      if (!(error instanceof MirrorError)) {
        const stack = error instanceof Error ? error.stack : undefined;
        this.log.error(`${item.resource} ${item.target}: ${messageOf(error)}`, { stack });
      }
      this.answered();
      return outcome;
    }
    this.failuresInARow += 1;
    const why = await this.probeOnce();
    if (why instanceof MirrorError && why.kind === "stopped") return { kind: "drain" };
    if (why !== null) {
      this.failuresInARow = 0;
      return { kind: "stop", because: why };
    }
    if (this.failuresInARow >= mostFailuresInARow) return { kind: "stop" };
    return isOddAnswer(error) ? outcome : this.suspect(item);
  }

  private answered(): void {
    this.failuresInARow = 0;
    this.onWorking();
  }

  /** One probe at a time, for all items that fail meanwhile. Null: the service answers, else the error. */
  private probeOnce(): Promise<unknown> {
    const asked = () =>
      this.ask().then(
        () => null,
        (error: unknown) => error,
      );
    this.probing ??= asked().finally(() => (this.probing = null));
    return this.probing;
  }

  /** Others succeeded since this item failed last: the failure is its own and counts as an attempt. */
  private suspect(item: WorkItem): FailureOutcome {
    const { all, isOwn } = this.own.add(item, this.successes);
    const afterMs = Math.min(longestPostponeMs, itemRetryDelayMs(all));
    if (!isOwn) return { kind: "postpone", afterMs };
    if (item.attempts + 1 < mostAttempts) return { kind: "retry", afterMs };
    this.own.forget(item);
    return { kind: "dead" };
  }
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
