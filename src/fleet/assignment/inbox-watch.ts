import type { InboxTable } from "../postgres/tables/inbox-table.ts";

interface InboxWait {
  readonly position: number;
  /** Gets the number of the last delivery; null: the wait is over. */
  readonly resolve: (headSeq: number | null) => void;
}

/**
 * Looks for new deliveries of all companies that this node holds, in one query; without companies, in none.
 *
 * Guarantee: a look that fails ends no wait.
 * Source of truth: table `inbox_heads`.
 * Worst outcome of a crash: none; nothing is kept.
 */
export class InboxWatch {
  private readonly inbox: Pick<InboxTable, "heads">;
  private readonly waiters = new Map<string, InboxWait>();

  constructor(inbox: Pick<InboxTable, "heads">) {
    this.inbox = inbox;
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

  /** One look at all companies. Throws MirrorError `database`. */
  async look(): Promise<void> {
    const asked = [...this.waiters];
    if (asked.length === 0) return;
    const heads = await this.inbox.heads(asked.map(([company]) => company));
    const seqs = new Map(heads.map(({ company, seq }) => [company, seq]));
    for (const [company, { position, resolve }] of asked) {
      const seq = seqs.get(company) ?? 0;
      if (seq !== position) resolve(seq);
    }
  }
}
