import type { Clock } from "../../base/clock.ts";
import { hintOf, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/logger.ts";

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

  /**
   * Resolves when `closed` has aborted and the step under way has ended. Never rejects.
   *
   * @param what completes "… failed; it is tried again"
   * @param everyMs pause after each step
   * @param needsStore it needs the store too, without which deliveries are stored all the same: the node stays ready
   */
  async repeat(
    what: string,
    everyMs: () => number,
    step: () => Promise<void>,
    closed: AbortSignal,
    needsStore = false,
  ): Promise<void> {
    for (; !closed.aborted; await this.clock.sleep(everyMs(), closed)) {
      try {
        await step();
        this.succeeded(what, needsStore);
      } catch (error) {
        if (!closed.aborted) this.failed(what, needsStore, error);
      }
    }
  }

  private succeeded(what: string, needsStore: boolean): void {
    const failing = this.failingOf(needsStore);
    if (!failing.delete(what) || failing.size > 0) return;
    if (needsStore) return this.log.info(`${what} succeeds again`);
    this.problem = null;
    this.log.info("Postgres is reached again");
  }

  private failed(what: string, needsStore: boolean, error: unknown): void {
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
