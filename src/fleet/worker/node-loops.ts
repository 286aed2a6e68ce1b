import type { Clock } from "../../base/clock.ts";
import { hintOf, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/logger.ts";

/** A step that a node repeats. */
export interface RepeatedStep {
  /** Completes "… failed; it is tried again". */
  readonly what: string;
  /** Pause after each, ms. */
  readonly everyMs: () => number;
  readonly step: () => Promise<void>;
}

/**
 * Repeats a node's steps until they are to end. While Postgres is away all of them fail: that is one line, and another
 * when it is back.
 *
 * Guarantee: a step that fails ends neither itself nor another.
 * Source of truth: none.
 * Worst outcome of a crash: none.
 */
export class NodeLoops {
  /** When a step succeeded last, monotonic; before the first: the start. */
  succeededMs: number;
  /** Why the last one failed; null: it did not. */
  problem: string | null = null;
  private readonly clock: Clock;
  private readonly log: Log;
  private readonly failing = new Set<string>();

  constructor(clock: Clock, log: Log) {
    this.clock = clock;
    this.log = log;
    this.succeededMs = clock.monotonicMs();
  }

  /** Resolves when `closed` has aborted and the step under way has ended. Never rejects. */
  async repeat({ what, everyMs, step }: RepeatedStep, closed: AbortSignal): Promise<void> {
    for (; !closed.aborted; await this.clock.sleep(everyMs(), closed)) {
      try {
        await step();
        this.succeeded(what);
      } catch (error) {
        if (!closed.aborted) this.failed(what, error);
      }
    }
  }

  private succeeded(what: string): void {
    this.succeededMs = this.clock.monotonicMs();
    if (!this.failing.delete(what) || this.failing.size > 0) return;
    this.problem = null;
    this.log.info("everything that is shared is reached again");
  }

  private failed(what: string, error: unknown): void {
    const isFirst = this.failing.size === 0;
    this.failing.add(what);
    this.problem = messageOf(error);
    const facts = { error: messageOf(error), ...hintOf(error) };
    this.log[isFirst ? "warn" : "debug"](`${what} failed; it is tried again`, facts);
  }
}
