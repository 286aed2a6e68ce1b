import type { Clock } from "../../base/clock.ts";
import { hintOf, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/logger.ts";

/**
 * Repeats a node's steps until they are to end. While Postgres is away all of them fail: that is one line, and another
 * when it is back. A step that may fail for another reason has loops of its own.
 *
 * Guarantee: a step that fails ends neither itself nor another.
 * Source of truth: none.
 * Worst outcome of a crash: none.
 */
export class NodeLoops {
  /** Why the last one failed; null: none did since all succeeded. */
  problem: string | null = null;
  private readonly clock: Pick<Clock, "sleep">;
  private readonly log: Log;
  private readonly failing = new Set<string>();
  private readonly again: string;

  /** @param again what is said when no step fails any more */
  constructor(clock: Pick<Clock, "sleep">, log: Log, again = "Postgres is reached again") {
    this.clock = clock;
    this.log = log;
    this.again = again;
  }

  /**
   * Resolves when `closed` has aborted and the step under way has ended. Never rejects.
   *
   * @param what completes "… failed; it is tried again"
   * @param everyMs pause after each step
   */
  async repeat(
    what: string,
    everyMs: number | (() => number),
    step: () => Promise<void>,
    closed: AbortSignal,
  ): Promise<void> {
    const pauseMs = typeof everyMs === "number" ? () => everyMs : everyMs;
    for (; !closed.aborted; await this.clock.sleep(pauseMs(), closed)) {
      try {
        await step();
        this.succeeded(what);
      } catch (error) {
        if (!closed.aborted) this.failed(what, error);
      }
    }
  }

  private succeeded(what: string): void {
    if (!this.failing.delete(what) || this.failing.size > 0) return;
    this.problem = null;
    this.log.info(this.again);
  }

  private failed(what: string, error: unknown): void {
    const isFirst = this.failing.size === 0;
    this.failing.add(what);
    this.problem = messageOf(error);
    const facts = { error: messageOf(error), ...hintOf(error) };
    this.log[isFirst ? "warn" : "debug"](`${what} failed; it is tried again`, facts);
  }
}
