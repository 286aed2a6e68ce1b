import { MirrorError } from "../../base/errors.ts";
import type { WorkItem } from "../../state/work-item.ts";
import { awayAfter } from "../context/limits.ts";
import { failureOutcome, type FailureOutcome } from "./failure-outcome.ts";

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
