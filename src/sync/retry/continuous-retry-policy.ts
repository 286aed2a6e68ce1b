import { messageOf, MirrorError } from "../../base/errors.ts";
import type { Log } from "../../base/logger.ts";
import { NotFoundError } from "../../connector/service-errors.ts";
import type { WorkItem } from "../../state/work-item.ts";
import { awayAfter, itemRetryDelayMs, mostAttempts } from "../context/limits.ts";
import { failureOutcome, type FailureOutcome, type RetryPolicy } from "./retry-policy.ts";

/** What the policy needs from the event worker. */
export interface ContinuousRetryHooks {
  /** Reads something that always exists; null when the service answers, else the error. */
  readonly probe: () => Promise<unknown>;
  /** The service works: a record was read, or there is nothing to do. */
  readonly onWorking: () => void;
}

const longestPostponeMs = 60_000;

/**
 * The event worker's policy: it never ends, and it is slow to blame a record. A failure may mean that the service
 * is away or that one record is broken; a probe shows which. Only an item that fails while others succeed
 * uses up attempts, so that no outage of any length makes a dead letter of an event.
 */
export class ContinuousRetryPolicy implements RetryPolicy {
  readonly ends = false;
  private readonly log: Log;
  private readonly hooks: ContinuousRetryHooks;
  /** By item: its failures, and how many items had succeeded at the last of them. */
  private readonly suspicions = new Map<number, { readonly successes: number; readonly failures: number }>();
  private successes = 0;
  private failuresInARow = 0;
  private probing: Promise<unknown> | null = null;

  constructor(log: Log, hooks: ContinuousRetryHooks) {
    this.log = log;
    this.hooks = hooks;
  }

  idle(): void {
    if (this.failuresInARow === 0) this.hooks.onWorking();
  }

  succeeded(item: WorkItem): void {
    this.successes += 1;
    this.suspicions.delete(item.id);
    this.answered();
  }

  async judge(error: unknown, item: WorkItem): Promise<FailureOutcome> {
    const outcome = outcomeForOne(error, item);
    if (outcome.kind === "stop" || outcome.kind === "drain") return outcome;
    if (!mayBeAway(error)) {
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
    if (this.failuresInARow >= awayAfter) return { kind: "stop" };
    return isOddAnswer(error) ? outcome : this.suspect(item);
  }

  private answered(): void {
    this.failuresInARow = 0;
    this.hooks.onWorking();
  }

  /** One probe at a time, for all items that fail meanwhile. */
  private probeOnce(): Promise<unknown> {
    this.probing ??= this.hooks.probe().finally(() => (this.probing = null));
    return this.probing;
  }

  /** Others succeeded since this item failed last: the failure is its own and counts as an attempt. */
  private suspect(item: WorkItem): FailureOutcome {
    const before = this.suspicions.get(item.id);
    const failures = (before?.failures ?? 0) + 1;
    this.suspicions.set(item.id, { successes: this.successes, failures });
    const isItsOwn = before !== undefined && this.successes > before.successes;
    const afterMs = Math.min(longestPostponeMs, itemRetryDelayMs(failures));
    if (!isItsOwn) return { kind: "postpone", afterMs };
    if (item.attempts + 1 < mostAttempts) return { kind: "retry", afterMs };
    this.suspicions.delete(item.id);
    return { kind: "dead" };
  }
}

/** One refused record holds no resource, and an unforeseen error concerns its record only. */
function outcomeForOne(error: unknown, item: WorkItem): FailureOutcome {
  if (!(error instanceof MirrorError)) return { kind: "dead" };
  const outcome = failureOutcome(error, item);
  return outcome.kind === "hold" ? { kind: "dead" } : outcome;
}

function mayBeAway(error: unknown): boolean {
  const isAway =
    error instanceof MirrorError && ["network", "unavailable", "rate_limited"].includes(error.kind);
  return isAway || isOddAnswer(error);
}

/** An answer that is not the service's own: the page of a proxy before it, or a broken record. */
function isOddAnswer(error: unknown): boolean {
  if (error instanceof MirrorError && error.kind === "protocol") return true;
  return error instanceof NotFoundError && error.serviceMessage === null;
}
