import { dayMs, elapsedSince, hourMs, msOrNull } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import { pruneMirror, type PruneReport } from "../state/retention/prune-mirror.ts";
import { Runs } from "../state/runs.ts";
import { createErrorGuard } from "../store/transient-errors.ts";
import type { OpenCompany } from "./host-context.ts";

const checkEveryMs = 60_000;
const leastBetweenMs = hourMs;
const mostBetweenMs = dayMs;

/** Pure: is a prune due? After a run that read all lists, at most once an hour; without one (null) once a day. */
export function isPruneDue(lastMs: number, runEndedMs: number | null, nowMs: number): boolean {
  const elapsedMs = elapsedSince(lastMs, nowMs);
  if (elapsedMs >= mostBetweenMs) return true;
  return elapsedMs >= leastBetweenMs && runEndedMs !== null && runEndedMs > lastMs;
}

/**
 * Prunes one company's mirror in the daemon: by itself, and when another process asks. One prune at a time.
 *
 * Guarantee: a prune that fails stops nothing else.
 * Source of truth: the mirror. One that finds nothing old writes nothing, so the last prune before this process is taken
 * to have followed the last run then.
 * Worst outcome of a crash: the rest is removed by the next prune.
 */
export function createPruner({ context, settings, mirror, runQueue, closed }: OpenCompany) {
  const { clock, log } = context;
  const { retention } = settings.config;
  const { db } = mirror;
  let last: Promise<unknown> = Promise.resolve();
  const runEndedMs = () => msOrNull(new Runs(db).lastEnded()?.finishedAt ?? null);

  const prune = (): Promise<PruneReport> => {
    const pruned = last.then(async () => {
      const report = await pruneMirror({ db, retention, clock, signal: closed });
      const { runs, inbox_bodies: bodies, changes, released_bytes: released } = report;
      const counts = { runs: runs.rows, inbox_bodies: bodies.rows, changes: changes.rows, released };
      if (Object.values(counts).some((count) => count > 0))
        log.info("pruned what is older than the config keeps", counts);
      return report;
    });
    last = pruned.catch(() => null);
    return pruned;
  };

  /** Prunes after runs, until `closed`; not while a run reads what lists show. */
  const follow = async (): Promise<void> => {
    const guard = createErrorGuard(clock, log);
    let lastMs = runEndedMs() ?? clock.nowMs();
    for (; !closed.aborted; await clock.sleep(checkEveryMs, closed)) {
      const isDue = () => isPruneDue(lastMs, runEndedMs(), clock.nowMs());
      if (!guard(() => !runQueue.isListing && isDue())) continue;
      lastMs = clock.nowMs();
      await prune().catch((error: unknown) =>
        log.warn("the mirror could not be pruned; it is tried again", { error: messageOf(error) }),
      );
    }
  };
  return { prune, follow };
}
