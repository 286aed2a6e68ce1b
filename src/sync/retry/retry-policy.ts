import { MirrorError } from "../../base/errors.ts";
import type { WorkItem } from "../../state/work-item.ts";
import { consequenceOf, type Consequence } from "./failure-outcome.ts";
import { awayAfter } from "../context/limits.ts";
import type { RunContext } from "../context/run-context.ts";

/** What differs between a run, which ends, and the tender of events, which does not. */
export interface RetryPolicy {
  /** Is the work over when nothing is due and nothing in flight? */
  readonly ends: boolean;
  /** When the queue is to be looked at again though nobody rings; null: nothing waits for its time. */
  nextLookMs(): number | null;
  /** Nothing is due, nothing in flight. */
  rested(): void;
  succeeded(work: WorkItem): void;
  /** What a failed read means. */
  judge(error: unknown, work: WorkItem): Consequence | Promise<Consequence>;
}

/** A run works until nothing of its own is due; rows that failed a moment ago are waited for. */
export class BatchRetryPolicy implements RetryPolicy {
  readonly ends = true;
  private readonly session: RunContext;
  private readonly resources: readonly string[];
  private failuresInARow = 0;

  constructor(session: RunContext) {
    this.session = session;
    this.resources = [...session.selected.keys()];
  }

  /** Second looks of the future are another run's. */
  nextLookMs(): number | null {
    return this.session.queue.nextRetryMs(this.resources, this.session.share);
  }

  rested(): void {
    // A run that rests has ended, or waits for another attempt.
  }

  succeeded(): void {
    this.failuresInARow = 0;
  }

  judge(error: unknown, work: WorkItem): Consequence {
    if (isAway(error) && ++this.failuresInARow >= awayAfter) return { kind: "stop" };
    return consequenceOf(error, work);
  }
}

function isAway(error: unknown): boolean {
  return error instanceof MirrorError && (error.kind === "network" || error.kind === "unavailable");
}
