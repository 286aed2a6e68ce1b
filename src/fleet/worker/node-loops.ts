import type { Clock } from "../../base/clock.ts";
import { hintOf, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/logger.ts";

/** A step that a node repeats. */
export interface RepeatedStep {
  /** Completes "… failed; it is tried again". */
  readonly what: string;
  /** Pause after each, ms. */
  readonly everyMs: () => number;
  /** It needs the store too, without which deliveries are stored all the same: the node stays ready. @default false */
  readonly needsStore?: boolean;
  readonly step: () => Promise<void>;
}

/**
 * Repeats a node's steps until they are to end. While Postgres is away all of them fail: that is one line, and another
 * when it is back. A step that needs the store has its own lines.
 *
 * Guarantee: a step that fails ends neither itself nor another.
 * Source of truth: none.
 * Worst outcome of a crash: none.
 */
export class NodeLoops {
  /** Why the last one failed that needs Postgres alone; null: none did. */
  problem: string | null = null;
  private readonly clock: Pick<Clock, "sleep">;
  private readonly log: Log;
  private readonly failing = new Set<string>();
  private readonly failingWithStore = new Set<string>();

  constructor(clock: Pick<Clock, "sleep">, log: Log) {
    this.clock = clock;
    this.log = log;
  }

  /** Resolves when `closed` has aborted and the step under way has ended. Never rejects. */
  async repeat(repeated: RepeatedStep, closed: AbortSignal): Promise<void> {
    for (; !closed.aborted; await this.clock.sleep(repeated.everyMs(), closed)) {
      try {
        await repeated.step();
        this.succeeded(repeated);
      } catch (error) {
        if (!closed.aborted) this.failed(repeated, error);
      }
    }
  }

  private succeeded({ what, needsStore = false }: RepeatedStep): void {
    const failing = this.failingOf(needsStore);
    if (!failing.delete(what) || failing.size > 0) return;
    if (needsStore) return this.log.info(`${what} succeeds again`);
    this.problem = null;
    this.log.info("Postgres is reached again");
  }

  private failed({ what, needsStore = false }: RepeatedStep, error: unknown): void {
    const failing = this.failingOf(needsStore);
    const isFirst = failing.size === 0;
    failing.add(what);
    if (!needsStore) this.problem = messageOf(error);
    const facts = { error: messageOf(error), ...hintOf(error) };
    this.log[isFirst ? "warn" : "debug"](`${what} failed; it is tried again`, facts);
  }

  private failingOf(needsStore: boolean): Set<string> {
    return needsStore ? this.failingWithStore : this.failing;
  }
}
