import { MirrorError, type ErrorKind } from "../../base/errors.ts";
import { InvalidError } from "../../connector/service-errors.ts";
import type { WorkItem } from "../../state/work-item.ts";
import { refusesPageSize } from "../plan/list-form.ts";
import { awayAfter, itemRetryDelayMs, mostAttempts } from "../context/limits.ts";

/** What differs between a run, which ends, and the event worker, which does not. */
export interface RetryPolicy {
  /** Is the work over when nothing is due and nothing in flight? Rechecks are left to others then. */
  readonly ends: boolean;
  /** Nothing is due and nothing is in flight. */
  idle(): void;
  succeeded(item: WorkItem): void;
  /** What a failed read leads to. */
  judge(error: unknown, item: WorkItem): FailureOutcome | Promise<FailureOutcome>;
}

/** A run ends when nothing of its own is due. It waits for items that failed a moment ago, not for rechecks. */
export function batchRetryPolicy(): RetryPolicy {
  let failuresInARow = 0;
  return {
    ends: true,
    idle: () => undefined,
    succeeded: () => {
      failuresInARow = 0;
    },
    judge: (error, item) => {
      const isAway = error instanceof MirrorError && ["network", "unavailable"].includes(error.kind);
      if (isAway && ++failuresInARow >= awayAfter) return { kind: "stop" };
      return failureOutcome(error, item);
    },
  };
}

/** What a failed read leads to. */
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

/** Errors that may pass, or concern one record only. */
const passing = new Set<ErrorKind>(["unavailable", "network", "rate_limited", "protocol"]);

/** What this error means for this work item in a run. Pure. */
export function failureOutcome(error: unknown, item: WorkItem): FailureOutcome {
  if (!(error instanceof MirrorError)) return { kind: "stop" };
  if (error.kind === "stopped") return { kind: "drain" };
  if (["forbidden", "not_found", "invalid"].includes(error.kind)) return refused(error, item);
  if (!passing.has(error.kind)) return { kind: "stop" };
  if (!error.retryable || item.attempts + 1 >= mostAttempts) return { kind: "dead" };
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
