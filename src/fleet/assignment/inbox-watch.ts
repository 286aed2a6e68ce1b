import type { Clock } from "../../base/clock.ts";
import { hintOf, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/logger.ts";
import type { InboxTable } from "../postgres/tables/inbox-table.ts";

/** What the watch works with. */
export interface InboxWatchParts {
  readonly inbox: Pick<InboxTable, "heads">;
  readonly clock: Clock;
  readonly log: Log;
}

interface Waiter {
  readonly position: number;
  /** Gets the number of the last delivery; null: the wait is over. */
  readonly resolve: (headSeq: number | null) => void;
}

const lookEveryMs = 1_000;

/**
 * Looks for new deliveries of all companies that this node holds, in one query a second; without companies, in none.
 *
 * Guarantee: a look that fails ends no wait. `follow` never rejects.
 * Source of truth: table `inbox_heads`.
 * Worst outcome of a crash: none; nothing is kept.
 */
export class InboxWatch {
  private readonly parts: InboxWatchParts;
  private readonly waiters = new Map<string, Waiter>();
  private hasFailed = false;

  constructor(parts: InboxWatchParts) {
    this.parts = parts;
  }

  /** Has the company's mirror everything that the last look found? */
  isDrained(company: string): boolean {
    return this.waiters.has(company);
  }

  /**
   * Resolves when the number of the company's last delivery is not `position`, with that number; it is lower in an
   * inbox that was restored from a backup. Null: `closed` aborted. One wait for each company at a time.
   */
  async moved(company: string, position: number, closed: AbortSignal): Promise<number | null> {
    if (closed.aborted) return null;
    const { promise, resolve } = Promise.withResolvers<number | null>();
    const end = () => resolve(null);
    this.waiters.set(company, { position, resolve });
    closed.addEventListener("abort", end, { once: true });
    try {
      return await promise;
    } finally {
      this.waiters.delete(company);
      closed.removeEventListener("abort", end);
    }
  }

  /** Looks until `closed`. */
  async follow(closed: AbortSignal): Promise<void> {
    const { clock } = this.parts;
    for (; !closed.aborted; await clock.sleep(lookEveryMs, closed)) await this.look();
  }

  /** One look at all companies. Never rejects. */
  async look(): Promise<void> {
    const { inbox, log } = this.parts;
    const asked = [...this.waiters];
    if (asked.length === 0) return;
    try {
      const heads = await inbox.heads(asked.map(([company]) => company));
      const seqs = new Map(heads.map(({ company, seq }) => [company, seq]));
      for (const [company, { position, resolve }] of asked) {
        const seq = seqs.get(company) ?? 0;
        if (seq !== position) resolve(seq);
      }
      this.hasFailed = false;
    } catch (error) {
      const fields = { error: messageOf(error), ...hintOf(error) };
      if (!this.hasFailed) log.warn("new deliveries cannot be looked for; it is tried again", fields);
      this.hasFailed = true;
    }
  }
}
