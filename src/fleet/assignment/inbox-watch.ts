import { WaitQueue } from "../../base/semaphore.ts";
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
  /** By company; who waits gets the number of the last delivery. */
  const waiters = new Map<string, { position: number; queue: WaitQueue<number> }>();
  return {
    /** Has the company's mirror everything that the last look found? */
    isDrained: (company: string) => waiters.has(company),
    /**
     * Resolves when the number of the company's last delivery is not `position`, with that number; it is lower in an
     * inbox that was restored from a backup. Null: `closed` aborted. One wait for each company at a time.
     */
    async moved(company: string, position: number, closed: AbortSignal): Promise<number | null> {
      const queue = new WaitQueue<number>();
      waiters.set(company, { position, queue });
      return await queue.wait(0, closed).finally(() => waiters.delete(company));
    },
    async look(): Promise<void> {
      const asked = [...waiters];
      if (asked.length === 0) return;
      const heads = await inbox.heads(asked.map(([company]) => company));
      const seqs = new Map(heads.map(({ company, seq }) => [company, seq]));
      for (const [company, { position, queue }] of asked) {
        const seq = seqs.get(company) ?? 0;
        if (seq !== position) queue.serve(seq);
      }
    },
  };
}
