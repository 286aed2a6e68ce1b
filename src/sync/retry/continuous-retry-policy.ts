import { messageOf, MirrorError } from "../../base/errors.ts";
import { ServiceError } from "../../connector/service-errors.ts";
import type { WorkItem } from "../../state/work-item.ts";
import type { RetryPolicy } from "./retry-policy.ts";
import { consequenceOf, type Consequence } from "./failure-outcome.ts";
import { awayAfter, mostAttempts, retryDelayMs } from "../context/limits.ts";
import type { RunContext } from "../context/run-context.ts";

export interface ContinuousRetryHooks {
  /** Asks the service for something that always is there; null when it answers, else why not. */
  readonly probe: () => Promise<unknown>;
  /** It works: a record was read, or there is nothing to do. */
  readonly onWorking: () => void;
}

/** When a row failed last, in successes of others. */
interface Suspicion {
  readonly successes: number;
  readonly failures: number;
}

const longestPostponeMs = 60_000;

/**
 * The tender's course: never over, and slow to blame a row. Whether the service is away or one record is
 * broken there is found out by asking for something else; only what fails while others succeed uses up
 * attempts, so that no outage of any length makes a dead letter of an event.
 */
export class ContinuousRetryPolicy implements RetryPolicy {
  readonly ends = false;
  private readonly session: RunContext;
  private readonly hooks: ContinuousRetryHooks;
  private readonly resources: readonly string[];
  private readonly suspicions = new Map<number, Suspicion>();
  private successes = 0;
  private failuresInARow = 0;
  private probing: Promise<unknown> | null = null;

  constructor(session: RunContext, hooks: ContinuousRetryHooks) {
    this.session = session;
    this.hooks = hooks;
    this.resources = [...session.selected.keys()];
  }

  /** Second looks of the future among them. */
  nextLookMs(): number | null {
    return this.session.queue.nextDueMs(this.resources, this.session.share);
  }

  rested(): void {
    if (this.failuresInARow === 0) this.hooks.onWorking();
  }

  succeeded(work: WorkItem): void {
    this.successes += 1;
    this.suspicions.delete(work.id);
    this.answered();
  }

  async judge(error: unknown, work: WorkItem): Promise<Consequence> {
    const meant = meaningOf(error, work);
    if (meant.kind === "stop" || meant.kind === "drain") return meant;
    if (!mayBeAway(error)) {
      if (!(error instanceof MirrorError)) this.tellBug(error, work);
      this.answered();
      return meant;
    }
    this.failuresInARow += 1;
    const why = await this.probeOnce();
    if (why instanceof MirrorError && why.kind === "stopped") return { kind: "drain" };
    if (why !== null) {
      this.failuresInARow = 0;
      return { kind: "stop", because: why };
    }
    if (this.failuresInARow >= awayAfter) return { kind: "stop" };
    return isOddAnswer(error) ? meant : this.suspect(work);
  }

  private answered(): void {
    this.failuresInARow = 0;
    this.hooks.onWorking();
  }

  /** One question at a time, for all rows that fail meanwhile. */
  private probeOnce(): Promise<unknown> {
    this.probing ??= this.hooks.probe().finally(() => (this.probing = null));
    return this.probing;
  }

  private suspect(work: WorkItem): Consequence {
    const before = this.suspicions.get(work.id);
    const failures = (before?.failures ?? 0) + 1;
    this.suspicions.set(work.id, { successes: this.successes, failures });
    const isItsOwn = before !== undefined && this.successes > before.successes;
    const afterMs = Math.min(longestPostponeMs, retryDelayMs(failures));
    if (!isItsOwn) return { kind: "postpone", afterMs };
    if (work.attempts + 1 < mostAttempts) return { kind: "retry", afterMs };
    this.suspicions.delete(work.id);
    return { kind: "dead" };
  }

  private tellBug(error: unknown, work: WorkItem): void {
    const stack = error instanceof Error ? error.stack : undefined;
    this.session.log.error(`${work.resource} ${work.target}: ${messageOf(error)}`, { stack });
  }
}

/** One record's refusal closes nothing else, and what nobody foresaw is that record's alone. */
function meaningOf(error: unknown, work: WorkItem): Consequence {
  if (!(error instanceof MirrorError)) return { kind: "dead" };
  const meant = consequenceOf(error, work);
  return meant.kind === "hold" ? { kind: "dead" } : meant;
}

function mayBeAway(error: unknown): boolean {
  if (!(error instanceof MirrorError)) return false;
  return isOddAnswer(error) || ["network", "unavailable", "rate_limited"].includes(error.kind);
}

/** Not the service's own words: a page of something before it, or a record that is broken. */
function isOddAnswer(error: unknown): boolean {
  if (!(error instanceof MirrorError)) return false;
  if (error.kind === "protocol") return true;
  return error instanceof ServiceError && error.kind === "not_found" && error.serviceMessage === null;
}
