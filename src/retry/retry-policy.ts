import { MirrorError, type ErrorKind } from "../base/errors.ts";
import type { WorkKind } from "../base/lane.ts";
import { ContradictionError, InvalidError } from "../connector/service-errors.ts";
import { backoffMs, retries } from "./retry-limits.ts";

/** What a policy knows of a work item. */
export interface FailedItem {
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
export function ownFailures() {
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
