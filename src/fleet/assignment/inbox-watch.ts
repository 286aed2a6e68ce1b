import type { InboxTable } from "../postgres/tables/inbox-table.ts";

export type InboxWatch = ReturnType<typeof createInboxWatch>;

/**
 * Looks for new deliveries of all companies that this node holds, in one query; without companies, in none.
 *
 * Guarantee: a look that fails ends no wait.
 * Source of truth: table `inbox_heads`.
 * Worst outcome of a crash: none; nothing is kept.
 */
export function createInboxWatch(inbox: Pick<InboxTable, "heads">) {
  /** By company; `resolve` gets the number of the last delivery, or null where the wait is over. */
  const waiters = new Map<string, { position: number; resolve: (headSeq: number | null) => void }>();
  return {
    /** Has the company's mirror everything that the last look found? */
    isDrained: (company: string) => waiters.has(company),
    /**
     * Resolves when the number of the company's last delivery is not `position`, with that number; it is lower in an
     * inbox that was restored from a backup. Null: `closed` aborted. One wait for each company at a time.
     */
    async moved(company: string, position: number, closed: AbortSignal): Promise<number | null> {
      if (closed.aborted) return null;
      const { promise, resolve } = Promise.withResolvers<number | null>();
      const end = () => resolve(null);
      waiters.set(company, { position, resolve });
      closed.addEventListener("abort", end, { once: true });
      try {
        return await promise;
      } finally {
        waiters.delete(company);
        closed.removeEventListener("abort", end);
      }
    },
    async look(): Promise<void> {
      const asked = [...waiters];
      if (asked.length === 0) return;
      const heads = await inbox.heads(asked.map(([company]) => company));
      const seqs = new Map(heads.map(({ company, seq }) => [company, seq]));
      for (const [company, { position, resolve }] of asked) {
        const seq = seqs.get(company) ?? 0;
        if (seq !== position) resolve(seq);
      }
    },
  };
}
