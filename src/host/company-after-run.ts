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
export class CompanyAfterRun {
  private readonly company: OpenCompany;
  private readonly changes: Changes;
  private isFetching = false;

  constructor(company: OpenCompany) {
    this.company = company;
    this.changes = new Changes(company.mirror.db);
  }

  /** Has it made; resolves when it was, or is not made any more. */
  make(scope: AfterRunScope): Promise<void> {
    const { context, settings, closed } = this.company;
    return context.afterRuns.add(settings.company.name, scope, closed);
  }

  async publish(): Promise<void> {
    await this.make("report");
    this.fetchFiles();
  }

  /** False: it did not succeed. */
  async backUp(): Promise<boolean> {
    const before = this.steps()[backupStep];
    await this.make("backup");
    return hasSucceededSince(before, this.steps()[backupStep]);
  }

  /** When the report is to be written again, epoch ms; null: it shows everything, or only runs publish. */
  publishMs(): number | null {
    if (this.isOwed()) return 0;
    const { everyMs } = this;
    const last = this.lastReport();
    const isBehind = everyMs !== null && isRepublishDue(last, this.changes.lastSeq(), everyMs, Infinity);
    return isBehind && last !== null ? Date.parse(last.at) + everyMs : null;
  }

  /** Has what an earlier process did not make after its run made now, and the report written again after events. */
  async follow(): Promise<void> {
    const { everyMs } = this;
    const { closed, runQueue, context } = this.company;
    const { clock, log } = context;
    if (this.isOwed()) await this.make("all");
    if (everyMs === null) return;
    const guard = createErrorGuard(clock, log);
    for (; !closed.aborted; await clock.sleep(Math.min(everyMs, checkEveryMs), closed)) {
      const isDue = () => isRepublishDue(this.lastReport(), this.changes.lastSeq(), everyMs, clock.nowMs());
      if (guard(() => !runQueue.isListing && isDue())) await this.publish();
    }
  }

  /** Has files fetched, if the config asks for them, until none is left or a run begins. To be called after runs and events. */
  fetchFiles(): void {
    const { settings, context, mirror, closed, runQueue } = this.company;
    const filed = filedResources(settings.resources, fileKinds(settings.config));
    if (filed.length === 0 || this.isFetching) return;
    const pending = new PendingFiles(mirror.db);
    const isDue = () =>
      !closed.aborted &&
      runQueue.current === null &&
      pending.isAny(filed, usualQuestion(context.clock.nowMs()));
    this.isFetching = true;
    this.fetchWhile(isDue)
      .catch((error: unknown) => context.log.error("fetching files failed", { error: messageOf(error) }))
      .finally(() => (this.isFetching = false));
  }

  /** For a minute at most at a time, so that no report waits for long. */
  private async fetchWhile(isDue: () => boolean): Promise<void> {
    const last = () => this.steps()[filesStep];
    for (let before = last()?.at; isDue(); before = last()?.at) {
      await this.make("files");
      // Nothing is recorded where another process fetches, or where the disk is full.
      if (last()?.outcome === "failed" || last()?.at === before) return;
    }
  }

  /** Did the last whole run end without what follows it, because its process ended first? */
  private isOwed(): boolean {
    const { mirror, settings } = this.company;
    const [run] = new Runs(mirror.db).successes();
    if (!run) return false;
    const report = run.report as RunSummary;
    // Nothing follows a scrub that found no change.
    const runEndedMs = Date.parse((!isWorthPublishing(report) && report.listed_at) || report.finished_at);
    const [seq, steps] = [this.changes.lastSeq(), this.steps()];
    return stepsAfterRun(settings.config).some((step) => isStepOwed(steps[step] ?? null, seq, runEndedMs));
  }

  /** How often the report is written after events; null: never. */
  private get everyMs(): number | null {
    const { publish, publishEveryMs } = this.company.settings.config.schedule;
    return publish === "after_sync" ? publishEveryMs : null;
  }

  private lastReport(): StepRecord | null {
    return this.steps()[reportStep] ?? null;
  }

  private steps() {
    return readSteps(this.company.settings.files.afterRun);
  }
}
