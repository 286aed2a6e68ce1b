import { MirrorError } from "../../base/errors.ts";
import { InvalidError } from "../../connector/service-errors.ts";
import type { WorkItem } from "../../state/work-item.ts";
import { mostAttempts, itemRetryDelayMs } from "../context/limits.ts";

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
  /** The service accepts fewer records per page. */
  | { readonly kind: "smaller page" }
  /** This resource is refused; others are not. */
  | { readonly kind: "hold"; readonly why: "failed" | "forbidden" }
  /** Try again and count an attempt. */
  | { readonly kind: "retry"; readonly afterMs: number }
  /** Try again without counting an attempt: the failure is not this record's own. */
  | { readonly kind: "postpone"; readonly afterMs: number }
  /** Give up: the work item becomes a dead letter. */
  | { readonly kind: "dead" };

/** What this error means for this work item in a run. Pure. */
export function failureOutcome(error: unknown, item: WorkItem): FailureOutcome {
  if (!(error instanceof MirrorError)) return { kind: "stop" };
  switch (error.kind) {
    case "not_found":
      if (item.kind === "detail" || item.kind === "confirm") return { kind: "missing" };
      return item.kind === "child" ? { kind: "check parent" } : { kind: "hold", why: "failed" };
    case "invalid":
      return refused(error, item);
    case "forbidden":
      return { kind: "hold", why: "forbidden" };
    case "unavailable":
    case "network":
    case "rate_limited":
    case "protocol":
      return retryOf(error, item);
    case "stopped":
      return { kind: "drain" };
    case "unauthenticated":
    case "identity":
    case "database":
    case "locked":
    case "config":
    case "usage":
      break;
  }
  return { kind: "stop" };
}

function refused(error: MirrorError, item: WorkItem): FailureOutcome {
  const fields = error instanceof InvalidError ? Object.keys(error.fields) : [];
  if (fields.includes("perPage") && item.kind === "list") return { kind: "smaller page" };
  if (item.kind === "child") return { kind: "check parent" };
  return item.kind === "list" ? { kind: "hold", why: "failed" } : { kind: "dead" };
}

function retryOf(error: MirrorError, item: WorkItem): FailureOutcome {
  if (!error.retryable || item.attempts + 1 >= mostAttempts) return { kind: "dead" };
  return { kind: "retry", afterMs: itemRetryDelayMs(item.attempts) };
}
