import { hintOf, messageOf } from "../../base/errors.ts";
import type { CompanySupervisor } from "../../host/company-supervisor.ts";
import type { ProcessContext } from "../../runs/process-context.ts";
import type { RunEnd } from "../../runs/run-queue.ts";
import { whileOwned, type Lease } from "../ownership/ownership.ts";
import type { SnapshotPointer } from "../postgres/tables/snapshots-table.ts";
import type { NodeContext } from "./node-context.ts";

/**
 * When a company's mirror is published: after each run, before its report, now and then while it changes, and before
 * it is released.
 *
 * Guarantee: a snapshot that fails ends nothing; it is made again the next time.
 * Source of truth: the mirror, and the published pointer.
 * Worst outcome of a crash: the next owner reads again what was not published.
 */
export function createCompanySnapshots(
  lease: Lease,
  { snapshots, node, cutOff }: NodeContext,
  { clock, log }: Pick<ProcessContext, "clock" | "log">,
  supervisor: Pick<CompanySupervisor, "requests" | "settings">,
  counts: Record<"published" | "failed", number>,
) {
  const signal = AbortSignal.any([lease.lost, cutOff]);
  let dueMs = clock.monotonicMs() + node.snapshotEveryMs;
  let run: RunEnd | null = null;
  /** Requests that are in a published snapshot. */
  let noted = 0;
  let last: Promise<boolean> = Promise.resolve(true);
  /** The last change of the published snapshot; what was noted besides changes, and as much of it as is in the snapshot. */
  let [sharedSeq, news, sharedNews] = [0, 0, 0];
  const publishNext = async (why: string, isNoted: boolean): Promise<boolean> => {
    const startedMs = clock.monotonicMs();
    dueMs = startedMs + node.snapshotEveryMs;
    const newsBefore = news;
    try {
      const sent = Object.values(supervisor.requests).reduce((sum, count) => sum + count, 0);
      const pointer = await whileOwned(lease, () =>
        snapshots.publish(lease, supervisor.settings, sent - noted, signal, isNoted),
      );
      if (pointer === undefined) return false;
      if (pointer) {
        noted = sent;
        const { id, seq, inbox_seq: inbox, size_bytes: bytes } = pointer;
        const facts = { snapshot: id, seq, inbox, bytes };
        log.info("snapshot published", { why, ...facts, ms: Math.round(clock.monotonicMs() - startedMs) });
        counts.published++;
        sharedSeq = seq;
        sharedNews = newsBefore;
      }
      return true;
    } catch (error) {
      // What lost the company says so once.
      if (!lease.isHeld()) return false;
      log.error("the snapshot could not be published", { why, error: messageOf(error), ...hintOf(error) });
      counts.failed++;
      return false;
    }
  };
  /** One at a time. False: it failed, or the company is lost. Never rejects. */
  const publish = (why: string, isNoted = false) => (last = last.then(() => publishNext(why, isNoted)));
  return {
    publish,
    /** With all news, as how far receivers of changes are: so the next owner sends them nothing again. */
    publishLast: (why: string) => publish(why, news > sharedNews),
    /** Goes on from what is published; null: nothing is. */
    takeOver: (pointer: SnapshotPointer | null) => void (sharedSeq = pointer?.seq ?? 0),
    sharedSeq: () => sharedSeq,
    /** The last snapshot is to say something that no earlier one does. */
    noteNews: () => void news++,
    /** @param lastRun the last run of this process */
    publishIfDue: async (lastRun: RunEnd | null) => {
      const isAfterRun = lastRun !== run;
      if (!isAfterRun && clock.monotonicMs() < dueMs) return;
      run = lastRun;
      await publish(isAfterRun ? "after a run" : "changes");
    },
  };
}
