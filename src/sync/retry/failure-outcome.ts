import { MirrorError } from "../../base/errors.ts";
import { InvalidError } from "../../connector/service-errors.ts";
import type { WorkItem } from "../../state/work-item.ts";
import { mostAttempts, retryDelayMs } from "../context/limits.ts";

/** What a failed read means for the run. */
export type Consequence =
  /** Nothing else can work either: end the run now. `because`: of something found out besides. */
  | { readonly kind: "stop"; readonly because?: unknown }
  /** A limit given by the user was reached: finish what is in flight. */
  | { readonly kind: "drain" }
  /** The record's own route says 404. */
  | { readonly kind: "gone" }
  /** The parent's list is refused: is the parent still there? */
  | { readonly kind: "ask parent" }
  /** The service takes fewer records per page. */
  | { readonly kind: "smaller page" }
  /** This resource is closed to us, others are not. */
  | { readonly kind: "hold"; readonly why: "failed" | "forbidden" }
  | { readonly kind: "retry"; readonly afterMs: number }
  /** Later, and it is not this row's fault. */
  | { readonly kind: "postpone"; readonly afterMs: number }
  | { readonly kind: "dead" };

/** Pure: the same error on the same row means the same. */
export function consequenceOf(error: unknown, work: WorkItem): Consequence {
  if (!(error instanceof MirrorError)) return { kind: "stop" };
  switch (error.kind) {
    case "not_found":
      if (work.kind === "detail" || work.kind === "confirm") return { kind: "gone" };
      return work.kind === "child" ? { kind: "ask parent" } : { kind: "hold", why: "failed" };
    case "invalid":
      return refused(error, work);
    case "forbidden":
      return { kind: "hold", why: "forbidden" };
    case "unavailable":
    case "network":
    case "rate_limited":
    case "protocol":
      return again(error, work);
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

function refused(error: MirrorError, work: WorkItem): Consequence {
  const fields = error instanceof InvalidError ? Object.keys(error.fields) : [];
  if (fields.includes("perPage") && work.kind === "list") return { kind: "smaller page" };
  if (work.kind === "child") return { kind: "ask parent" };
  return work.kind === "list" ? { kind: "hold", why: "failed" } : { kind: "dead" };
}

function again(error: MirrorError, work: WorkItem): Consequence {
  if (!error.retryable || work.attempts + 1 >= mostAttempts) return { kind: "dead" };
  return { kind: "retry", afterMs: retryDelayMs(work.attempts) };
}
