import { elapsedSince } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import { filedResources, fileKinds, PendingFiles, usualQuestion } from "../state/files/pending-files.ts";
import { Runs } from "../state/runs.ts";
import {
  backupStep,
  filesStep,
  hasSucceededSince,
  readSteps,
  reportStep,
  stepsAfterRun,
  type StepRecord,
} from "../status/after-run-record.ts";
import { Changes } from "../store/apply/change-log.ts";
import { createErrorGuard } from "../store/transient-errors.ts";
import { isWorthPublishing, type RunSummary } from "../sync/context/run-summary.ts";
import type { AfterRunScope } from "./after-run-queue.ts";
import type { OpenCompany } from "./host-context.ts";

/** Pure: did the mirror change since the report, and was the last attempt long ago? A run makes the first one. */
export function isRepublishDue(last: StepRecord | null, seq: number, everyMs: number, nowMs: number) {
  if (last === null || (last.outcome !== "failed" && last.seq === seq)) return false;
  return elapsedSince(Date.parse(last.at), nowMs) >= everyMs;
}

/** Pure: was the step never attempted (null), or did a run end after that with changes that it does not show? */
export function isStepOwed(last: StepRecord | null, seq: number, runEndedMs: number): boolean {
  return last === null || (last.seq !== seq && Date.parse(last.at) < runEndedMs);
}

const checkEveryMs = 15_000;

/**
 * What follows the runs and events of one company, made by other processes through the `AfterRunQueue`.
 *
 * Guarantee: what changes while nothing else publishes is in the report soon after `schedule.publish_every`. No file is
 * fetched while a run asks the service, but for the rest of a minute. A failure ends nothing.
 * Source of truth: the mirror, and the records of what was made.
 * Worst outcome of a crash: what was under way is asked for again.
 */
export function followRuns({ context, settings, mirror, closed, runQueue }: OpenCompany) {
  const { clock, log, afterRuns } = context;
  const { config, company, files, resources } = settings;
  const changes = new Changes(mirror.db);
  let isFetching = false;
  const steps = () => readSteps(files.afterRun);
  const lastReport = () => steps()[reportStep] ?? null;
  const lastFetch = () => steps()[filesStep];
  /** How often the report is written after events; null: never. */
  const everyMs = config.schedule.publish === "after_sync" ? config.schedule.publishEveryMs : null;
  /** Did the last whole run end without what follows it, because its process ended first? */
  const isOwed = (): boolean => {
    const [run] = new Runs(mirror.db).successes();
    if (!run) return false;
    const report = run.report as RunSummary;
    // Nothing follows a scrub that found no change.
    const runEndedMs = Date.parse((!isWorthPublishing(report) && report.listed_at) || report.finished_at);
    const [seq, made] = [changes.lastSeq(), steps()];
    return stepsAfterRun(config).some((step) => isStepOwed(made[step] ?? null, seq, runEndedMs));
  };
  const make = (scope: AfterRunScope) => afterRuns.add(company.name, scope, closed);
  /** For a minute at most at a time, so that no report waits for long. */
  const fetchWhile = async (isDue: () => boolean) => {
    for (let before = lastFetch()?.at; isDue(); before = lastFetch()?.at) {
      await make("files");
      // Nothing is recorded where another process fetches, or where the disk is full.
      if (lastFetch()?.outcome === "failed" || lastFetch()?.at === before) return;
    }
  };
  /** Has files fetched, if the config asks for them, until none is left or a run begins. To be called after runs and events. */
  const fetchFiles = () => {
    const filed = filedResources(resources, fileKinds(config));
    if (filed.length === 0 || isFetching) return;
    const pending = new PendingFiles(mirror.db);
    const isDue = () =>
      !closed.aborted && runQueue.current === null && pending.isAny(filed, usualQuestion(clock.nowMs()));
    isFetching = true;
    fetchWhile(isDue)
      .catch((error: unknown) => log.error("fetching files failed", { error: messageOf(error) }))
      .finally(() => (isFetching = false));
  };
  const publish = async () => {
    await make("report");
    fetchFiles();
  };
  return {
    fetchFiles,
    publish,
    /** False: it did not succeed. */
    backUp: async (): Promise<boolean> => {
      const before = steps()[backupStep];
      await make("backup");
      return hasSucceededSince(before, steps()[backupStep]);
    },
    /** When the report is to be written again, epoch ms; null: it shows everything, or only runs publish. */
    publishMs: (): number | null => {
      if (isOwed()) return 0;
      const last = lastReport();
      const isBehind = everyMs !== null && isRepublishDue(last, changes.lastSeq(), everyMs, Infinity);
      return isBehind && last !== null ? Date.parse(last.at) + everyMs : null;
    },
    /** Has what an earlier process did not make after its run made now, and the report written again after events. */
    follow: async (): Promise<void> => {
      if (isOwed()) await make("all");
      if (everyMs === null) return;
      const guard = createErrorGuard(clock, log);
      for (; !closed.aborted; await clock.sleep(Math.min(everyMs, checkEveryMs), closed)) {
        const isDue = () => isRepublishDue(lastReport(), changes.lastSeq(), everyMs, clock.nowMs());
        if (guard(() => !runQueue.isListing && isDue())) await publish();
      }
    },
  };
}
