import { hintOf, messageOf } from "../../base/errors.ts";
import type { ProcessContext } from "../../runs/process-context.ts";
import type { Failure, OwnersTable } from "../postgres/tables/owners-table.ts";
import { Lease, readSentAt, type UptimeClock } from "./ownership.ts";

export type LeaseKeeper = ReturnType<typeof createLeaseKeeper>;

/** As in design.md, section 12: another node takes over within 30 s. */
export const leaseTimes = {
  /** How long Postgres keeps an owner that does not renew. */
  ttlMs: 12_000,
  /** By how much earlier an ownership ends here: for clocks that run at different speeds. */
  marginMs: 2_000,
  renewEveryMs: 4_000,
  retryMs: 1_000,
};

/** How often leases are looked at: one that nobody asks for ends no later than that after its time. */
const watchEveryMs = 500;

/**
 * Claims companies for this node, and renews all it holds in one statement.
 *
 * Guarantee: a renewal that fails, is late or does not name a company ends no other company's ownership. With
 * Postgres away all end when their time is over. `follow` rejects never.
 * Source of truth: table `owners`.
 * Worst outcome of a crash: nobody owns the node's companies until their leases are over.
 */
export function createLeaseKeeper(
  owners: Pick<OwnersTable, "claim" | "renew" | "release">,
  node: string,
  { clock, log }: Pick<ProcessContext, "clock" | "log">,
  uptimeMs?: UptimeClock,
) {
  const { ttlMs, marginMs, renewEveryMs, retryMs } = leaseTimes;
  const leases = new Map<string, Lease>();
  let hasFailed = false;
  /** One renewal of everything. False: it failed. */
  const renew = async (): Promise<boolean> => {
    const current = [...leases.values()].filter((lease) => lease.isHeld());
    if (current.length === 0) return true;
    const sentAt = readSentAt(clock, uptimeMs);
    const held = current.map(({ company, epoch }) => ({ company, epoch }));
    try {
      const kept = new Set(await owners.renew(node, held, ttlMs));
      for (const lease of current)
        if (kept.has(lease.company)) lease.renewed(sentAt);
        else lease.end("Postgres names another owner, or none");
      if (hasFailed) log.info("Postgres renews what this node owns again", { companies: leases.size });
      hasFailed = false;
      return true;
    } catch (error) {
      const facts = { companies: current.length, error: messageOf(error), ...hintOf(error) };
      const what = "what this node owns could not be renewed; it is tried again until its time is over";
      if (!hasFailed) log.warn(what, facts);
      hasFailed = true;
      return false;
    }
  };
  const renewUntil = async (closed: AbortSignal) => {
    while (!closed.aborted) {
      const turn = new AbortController();
      const startedMs = clock.monotonicMs();
      // A renewal that Postgres does not answer holds back no later one.
      const overdue = clock.sleep(renewEveryMs, AbortSignal.any([closed, turn.signal])).then(() => false);
      const succeeded = await Promise.race([renew(), overdue]);
      turn.abort();
      const tookMs = clock.monotonicMs() - startedMs;
      await clock.sleep(succeeded ? Math.max(retryMs, renewEveryMs - tookMs) : retryMs, closed);
    }
  };
  /** Ends leases in their time also while a renewal is on its way. */
  const watchUntil = async (closed: AbortSignal) => {
    for (; !closed.aborted; await clock.sleep(watchEveryMs, closed))
      for (const lease of leases.values()) lease.isHeld();
  };
  return {
    /** Claims a company that this node does not hold. Throws MirrorError `database`. */
    claim: async (company: string) => {
      const sentAt = readSentAt(clock, uptimeMs);
      const claimed = await owners.claim(company, node, ttlMs);
      if ("refused" in claimed) return claimed;
      const facts = { company, node, ...claimed, heldMs: ttlMs - marginMs };
      const lease = new Lease(facts, sentAt, clock, uptimeMs);
      leases.set(company, lease);
      lease.lost.addEventListener("abort", () => leases.get(company) === lease && leases.delete(company));
      // An answer that took too long.
      lease.isHeld();
      return { lease };
    },
    /**
     * Ends the ownership here, then in Postgres, so that nobody has to wait until its time is over. Never rejects.
     *
     * @param failure why this node could not hold the company; null: it could
     */
    release: async (lease: Lease, failure: Failure | null = null): Promise<void> => {
      if (!lease.isHeld()) return;
      lease.end("it was released");
      try {
        await owners.release(lease, lease.quietMs, failure);
      } catch (error) {
        const facts = { company: lease.company, error: messageOf(error), ...hintOf(error) };
        log.warn("the company could not be released: another node takes it when its time is over", facts);
      }
    },
    /** Renews what is held and ends what is over, until `closed`. */
    follow: (closed: AbortSignal) => Promise.all([renewUntil(closed), watchUntil(closed)]),
  };
}
