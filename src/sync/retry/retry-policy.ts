import { MirrorError, type ErrorKind } from "../../base/errors.ts";
import { backoffMs } from "../../base/retry.ts";
import { ContradictionError, InvalidError } from "../../connector/service-errors.ts";
import type { WorkItem } from "../../state/work-item.ts";
import type { Outage } from "../context/tally.ts";
import { refusesPageSize } from "../plan/list-reads.ts";

/** The event worker, and who asks after a parent, try a work item this often before it is a dead letter. */
export const mostAttempts = 3;
/** An answer that contradicts its question, or itself, is asked for this often in all. */
const mostContradictions = 5;

/** The pauses of a run between its tries, ms: 2, 4, 8, 16 and 30 s, together a minute. `failures` counts from 1. */
export function retryPauseMs(failures: number): number {
  return backoffMs(failures, { baseMs: 2_000, maxMs: 30_000 });
}

/** Time before a work item is tried again within the run, ms: 1 s, doubled per attempt, 32 s at most. */
export function itemRetryDelayMs(attempts: number): number {
  return backoffMs(attempts + 1, { baseMs: 1_000, maxMs: 32_000 });
}

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
export function ownFailures() {
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
