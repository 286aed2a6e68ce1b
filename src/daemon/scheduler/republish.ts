import { elapsedSince } from "../../base/clock.ts";
import { Runs } from "../../state/runs.ts";
import { readSteps, reportStep, stepsAfterRun, type StepRecord } from "../../status/after-run-record.ts";
import { isWorthPublishing, type CompanyReport } from "../../sync/context/run-report.ts";
import { Changes } from "../../store/apply/change-reader.ts";
import type { Db } from "../../store/database.ts";
import { createErrorGuard } from "../../store/transient-errors.ts";
import { mirrorFiles } from "../../config/mirror-files.ts";
import type { Config } from "../../config/config.ts";
import type { ProcessContext } from "../../runs/process-context.ts";

export interface RepublishParts {
  readonly context: Pick<ProcessContext, "clock" | "log">;
  /** The mirror. */
  readonly db: Db;
  /** Where attempts are recorded. */
  readonly file: string;
  readonly everyMs: number;
  /** Does a run read what lists show? It publishes at its end. */
  readonly isListing: () => boolean;
  /** Never rejects. */
  readonly publish: () => Promise<void>;
  readonly closed: AbortSignal;
}

/** What decides whether the report is written again. */
interface ReportState {
  /** Null: it was never attempted. */
  readonly last: StepRecord | null;
  /** How far the change log is. */
  readonly seq: number;
  readonly everyMs: number;
}

/**
 * Pure: did the mirror change since the report, or was none made, and is the last attempt long enough ago? The first
 * attempt is a run's.
 */
export function isRepublishDue({ last, seq, everyMs }: ReportState, nowMs: number): boolean {
  if (last === null || (last.outcome !== "failed" && last.seq === seq)) return false;
  return elapsedSince(Date.parse(last.at), nowMs) >= everyMs;
}

/** Pure: was the step never attempted (null), or did a run end after that with changes that it does not show? */
export function isStepOwed(last: StepRecord | null, seq: number, runEndedMs: number): boolean {
  return last === null || (last.seq !== seq && Date.parse(last.at) < runEndedMs);
}

/** Did the last whole run end without what follows it, because its process ended first? */
export function isAfterRunOwed(db: Db, config: Config, company: string): boolean {
  const [run] = new Runs(db).successes(1);
  if (!run) return false;
  const report = run.report as CompanyReport;
  // Nothing follows a scrub that found no change.
  const runEndedMs = Date.parse((!isWorthPublishing(report) && report.listed_at) || report.finished_at);
  const seq = new Changes(db).lastSeq();
  const records = readSteps(mirrorFiles(config, company).afterRun);
  return stepsAfterRun(config).some((step) => isStepOwed(records[step] ?? null, seq, runEndedMs));
}

/** When a company's report is to be written again, epoch ms; null: it shows everything, or only runs publish. */
export function republishMs(db: Db, config: Config, company: string): number | null {
  if (isAfterRunOwed(db, config, company)) return 0;
  const { publish, publishEveryMs: everyMs } = config.schedule;
  if (publish !== "after_sync" || everyMs === null) return null;
  const last = readSteps(mirrorFiles(config, company).afterRun)[reportStep] ?? null;
  const isBehind =
    last !== null && isRepublishDue({ last, seq: new Changes(db).lastSeq(), everyMs }, Infinity);
  return isBehind ? Date.parse(last.at) + everyMs : null;
}

const checkEveryMs = 15_000;

/**
 * Has the report written again after events, at most every `everyMs`, until `closed`.
 *
 * Guarantee: what changes while nothing else publishes is in the report soon after `everyMs`.
 * Source of truth: the change log, and the record of the last report.
 * Worst outcome of a crash: none; both are read again.
 */
export async function republishAfterEvents(parts: RepublishParts): Promise<void> {
  const { context, db, file, everyMs, isListing, publish, closed } = parts;
  const { clock, log } = context;
  const guard = createErrorGuard(clock, log);
  const changes = new Changes(db);
  for (; !closed.aborted; await clock.sleep(Math.min(everyMs, checkEveryMs), closed)) {
    let isDue = false;
    guard(() => {
      const last = readSteps(file)[reportStep] ?? null;
      isDue = !isListing() && isRepublishDue({ last, seq: changes.lastSeq(), everyMs }, clock.nowMs());
    });
    if (isDue) await publish();
  }
}
