import { isUtf8 } from "node:buffer";
import { hintOf, messageOf, MirrorError } from "../../base/errors.ts";
import { WaitQueue } from "../../base/semaphore.ts";
import type { ProcessContext } from "../../runs/process-context.ts";
import { inboxPosition, inboxPositionKey } from "../../state/meta.ts";
import type { Mirror } from "../../state/mirror.ts";
import type { LoopTurns } from "../../store/transient-errors.ts";
import { readStored } from "../../webhook/ingest/delivery.ts";
import { logStored, type CompanyIngest, type ReceivedDelivery } from "../../webhook/ingest/ingest.ts";
import type { NumberedDelivery, InboxTable } from "../postgres/tables/inbox-table.ts";
import { retries } from "../../retry/retry-limits.ts";

interface DrainParts extends Pick<ProcessContext, "clock" | "log"> {
  readonly company: string;
  readonly inbox: Pick<InboxTable, "read">;
  readonly mirror: Pick<Mirror, "meta">;
  readonly ingest: Pick<CompanyIngest, "storeReceived" | "has" | "form">;
  /** Each transaction waits for a turn of its own. */
  readonly turns: Pick<LoopTurns, "next">;
  /** Ends it between two transactions. */
  readonly closed: AbortSignal;
}

/** Deliveries of one transaction: some milliseconds of work. */
const mostAtOnce = 200;

/**
 * Drains a company's inbox into its mirror until `closed`: now, and whenever something new came. Whatever fails is tried
 * again: the company's runs go on meanwhile, and `fleet status` shows deliveries that wait.
 *
 * @throws MirrorError `locked` where this process may not write the mirror any more
 */
export async function followInbox(parts: DrainParts, watch: Pick<InboxWatch, "moved">): Promise<void> {
  const { company, clock, log, closed } = parts;
  let hasFailed = false;
  let headSeq: number | null = null;
  while (!closed.aborted) {
    try {
      const position = await drainInbox(parts, headSeq);
      hasFailed = false;
      headSeq = await watch.moved(company, position, closed);
    } catch (error) {
      if (closed.aborted) return;
      if (error instanceof MirrorError && error.kind === "locked") throw error;
      const facts = { error: messageOf(error), ...hintOf(error) };
      if (!hasFailed) log.warn("the inbox cannot be drained now; it is tried again", facts);
      hasFailed = true;
      await clock.sleep(retries.node.deliveriesMs, closed);
    }
  }
}

/**
 * Stores in the mirror what receivers committed to the company's inbox and the mirror lacks.
 *
 * Guarantee: deliveries are stored in the order of their numbers, each transaction with the position it reaches; so none
 * is left out. One that the mirror has changes nothing (I7). Each keeps the time at which it was received.
 * Source of truth: the inbox in Postgres; `fleet_inbox` in `_meta` says how much of it the mirror holds.
 * Worst outcome of a crash: one transaction is made again. A mirror that was restored from an older snapshot reads again
 * what it lacks.
 *
 * @param headSeq number of the last delivery where it is known; null: reads until nothing more is there
 * @returns the position reached
 * @throws MirrorError `database`, `locked`
 */
export async function drainInbox(parts: DrainParts, headSeq: number | null): Promise<number> {
  const { company, inbox, mirror, turns, closed } = parts;
  let position = inboxPosition(mirror.meta);
  if (headSeq !== null && headSeq < position) position = restart(parts, position);
  while (!closed.aborted && position !== headSeq) {
    // With the delivery at the position, which shows whether this is the inbox that was drained.
    const rows = await inbox.read(company, Math.max(0, position - 1), mostAtOnce);
    if (rows[0]?.seq === position && !parts.ingest.has(rows[0].eventId)) {
      position = restart(parts, position);
      continue;
    }
    const fresh = rows.filter(({ seq }) => seq > position);
    const last = fresh.at(-1);
    if (!last) break;
    await turns.next();
    if (closed.aborted) break;
    storeRows(parts, fresh, last.seq);
    position = last.seq;
  }
  return position;
}

/** Another inbox than the one that was drained: Postgres was restored from a backup, or replaced. */
function restart({ log }: DrainParts, position: number): 0 {
  const what = "the inbox is not the one that this mirror was filled from: it is read from its beginning";
  log.warn(what, { position });
  return 0;
}

function storeRows(parts: DrainParts, rows: readonly NumberedDelivery[], position: number): void {
  const { company, mirror, ingest, clock, log } = parts;
  const received = rows.map(({ eventId, body, receivedAtMs }): ReceivedDelivery => ({
    delivery: readStored(eventId, isUtf8(body) ? body.toString() : body, ingest.form),
    receivedAtMs,
  }));
  const notePosition = () => mirror.meta.set(inboxPositionKey, position);
  logStored(log, company, ingest.storeReceived(received, clock.nowMs(), notePosition));
}

export type InboxWatch = ReturnType<typeof createInboxWatch>;

/**
 * Looks for new deliveries of all companies that this node holds, in one query; without companies, in none.
 *
 * Guarantee: a look that fails ends no wait.
 * Source of truth: table `inbox_heads`.
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
