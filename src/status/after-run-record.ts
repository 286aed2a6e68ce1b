import { isListOf, readJsonFile, writeFileAtomically } from "../base/files/atomic-file.ts";
import { elapsedSince, isoTime } from "../base/clock.ts";
import { MirrorError } from "../base/errors.ts";
import type { Config, ExportConfig } from "../config/config.ts";
import { retries } from "../retry/retry-limits.ts";
import { takeWriterLock } from "../store/writer-lock.ts";

export interface StepRecord {
  readonly outcome: "written" | "unchanged" | "failed";
  /** When it ended, ISO. */
  readonly at: string;
  readonly duration_ms: number;
  /** Null: it did not fail. */
  readonly error: string | null;
  /** ISO; null: it never succeeded. */
  readonly last_success_at: string | null;
  /** How far the change log was that the last success shows; null: not known. */
  readonly seq: number | null;
}

/** How one thing that follows runs stands; all is null where it was never made. */
export type StepStatus = { readonly step: string; readonly age_ms: number | null } & (
  StepRecord | { readonly [K in keyof StepRecord]: null }
);

export type StepResult = Pick<StepRecord, "outcome" | "error" | "seq">;

export const reportStep = "report";

/** The step that makes a backup. It follows a schedule of its own. */
export const backupStep = "backup";

/** The step that fetches files. What is left of it waits for the next time. */
export const filesStep = "files";

const placeOf = ({ format, out, to }: ExportConfig) => `${format} ${to ?? out}`;

/** The step of an entry, by its format and place, and by its tables where another entry has the same. */
export function exportStep(entry: ExportConfig, { exports }: Pick<Config, "exports">): string {
  const isAlone = exports.every((one) => one === entry || placeOf(one) !== placeOf(entry));
  return isAlone ? placeOf(entry) : `${placeOf(entry)}: ${entry.tables?.join(", ") ?? "all tables"}`;
}

export function stepsOf(config: Config): string[] {
  const { schedule, exports, backup, files } = config;
  const follow = exports.filter(({ after }) => after === "sync");
  return [
    ...(schedule.publish === null ? [] : [reportStep]),
    ...follow.map((entry) => exportStep(entry, config)),
    ...(backup.to === null ? [] : [backupStep]),
    ...(files.pdf || files.attachments ? [filesStep] : []),
  ];
}

export function stepsAfterRun(config: Config): string[] {
  const isScheduled = config.schedule.publish !== "after_sync";
  return stepsOf(config).filter((step) => followsRuns(step, isScheduled));
}

/** Is this step made after each run? A report with a pattern of its own is not, no backup, and no files. */
export function followsRuns(step: string, isReportScheduled: boolean): boolean {
  return step !== backupStep && step !== filesStep && !(step === reportStep && isReportScheduled);
}

/** What is recorded of the steps; empty where nothing is, or the file cannot be read. */
export function readSteps(file: string): Readonly<Record<string, StepRecord>> {
  const records = Object.entries((readJsonFile(file) ?? {}) as Record<string, StepRecord>);
  return Object.fromEntries(records.filter(([, record]) => isListOf([record], ["outcome", "at"])));
}

/** How these steps stand, and backups and files that nobody scheduled. */
export function readStepStatus(file: string, steps: readonly string[], nowMs: number): StepStatus[] {
  const records = readSteps(file);
  const shown = new Set([
    ...steps,
    ...[backupStep, filesStep].filter((step) => Object.hasOwn(records, step)),
  ]);
  const none = { outcome: null, at: null, duration_ms: null, error: null, last_success_at: null, seq: null };
  return [...shown].map((step) => {
    const record = records[step] ?? none;
    const { last_success_at: last } = record;
    return { step, ...record, age_ms: last === null ? null : elapsedSince(Date.parse(last), nowMs) };
  });
}

/**
 * Records an attempt beside the mirror, because a daemon may hold the mirror itself.
 *
 * Guarantee: after a crash the file has the old record or the new one; a failure keeps the last success, and processes that
 * end at once each other's records.
 * Source of truth: the file.
 * Worst outcome of a crash: the attempt is not recorded.
 */
export function recordStep(
  file: string,
  step: string,
  { outcome, error, seq }: StepResult,
  startedMs: number,
  endedMs: number,
): void {
  const at = isoTime(endedMs);
  const duration_ms = Math.max(0, Math.round(endedMs - startedMs));
  using _ = lockRecord(file);
  const records = readSteps(file);
  const { last_success_at = null, seq: lastSeq = null } = records[step] ?? {};
  const last = outcome === "failed" ? { last_success_at, seq: lastSeq } : { last_success_at: at, seq };
  const record: StepRecord = { outcome, at, duration_ms, error, ...last };
  writeFileAtomically(file, `${JSON.stringify({ ...records, [step]: record })}\n`);
}

/** Waits for whoever records another step, and blocks this thread meanwhile. */
function lockRecord(file: string, attempt = 1): Disposable {
  try {
    return takeWriterLock(`${file}.lock`, "record", file);
  } catch (error) {
    const isTaken = error instanceof MirrorError && error.kind === "locked";
    if (!isTaken || attempt >= retries.record.attempts) throw error;
    return lockRecord(file, attempt + 1);
  }
}

/** Pure: was the step made since `before` was read, and did it succeed? By no clock: it may have been set. */
export function hasSucceededSince(before: StepRecord | undefined, now: StepRecord | undefined): boolean {
  return now !== undefined && now.at !== before?.at && now.outcome !== "failed";
}
