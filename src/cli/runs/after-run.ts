import { localDate } from "../../base/clock.ts";
import type { ExportConfig } from "../../config/config.ts";
import { monthBefore, periodOfMonth } from "../../export/plan/period.ts";
import { fileKinds, usualQuestion } from "../../state/files/pending-files.ts";
import type { AfterRunScope } from "../../daemon/runs/after-run-queue.ts";
import { exportStep, filesStep } from "../../status/after-run-record.ts";
import { failureOf } from "../console/failure-text.ts";
import type { CompanyScope } from "../mirror/company-scope.ts";
import type { Outcome } from "../program/exit-code.ts";
import { exportCompany } from "./export-company.ts";
import { publishCompany } from "./publish-company.ts";
import { addressOfBackups, backupCompany } from "./backup-company.ts";
import { fetchCompanyFiles } from "./files-company.ts";
import { recorded } from "./recorded-step.ts";

/**
 * Makes what the config asks for after a run that brought something in (`isWorthPublishing`): the report, then the
 * exports; or the report alone, a backup, or files.
 * Guarantee: never rejects, because the run is committed whatever becomes of them; failures are logged.
 * Returns an outcome for each that failed.
 */
export async function afterRun(
  { context, config, ...company }: CompanyScope,
  only: AfterRunScope = "all",
): Promise<Outcome[]> {
  const scope = { ...company, config, context: { ...context, showing: withoutLines } };
  const outcomes: (Outcome | null)[] = [];
  if (only === "backup") outcomes.push(await backupOne(scope));
  else if (only === "files") outcomes.push(...(await filesOne(scope, AbortSignal.timeout(filesSliceMs))));
  else if (only === "report" || config.schedule.publish === "after_sync")
    outcomes.push(await publishOne(scope));
  for (const wanted of config.exports)
    if (only === "all" && wanted.after === "sync") outcomes.push(await exportOne(scope, wanted));
  return outcomes.filter((one) => one !== null);
}

/** Reports of other companies wait no longer than this for files. */
const filesSliceMs = 60_000;

/**
 * Fetches files until none is missing or `closed` aborts, and writes the report again when that was all. Returns an outcome
 * where it fails; one record without its file is no failure.
 */
export async function filesOne(
  scope: CompanyScope,
  closed: AbortSignal,
  mostRequests?: number,
): Promise<Outcome[]> {
  const outcome = await fetchAndPublish(scope, closed, mostRequests);
  return outcome === null ? [] : [outcome];
}

async function fetchAndPublish(
  scope: CompanyScope,
  closed: AbortSignal,
  mostRequests: number | undefined,
): Promise<Outcome | null> {
  const { config, company, context } = scope;
  try {
    const request = {
      kinds: fileKinds(config),
      question: usualQuestion(context.clock.nowMs()),
      closed,
      mostRequests,
    };
    const { written, pending, folder } = await recorded(
      scope,
      filesStep,
      () => fetchCompanyFiles(scope, request),
      (result) => ({ unchanged: result.written === 0, seq: null }),
    );
    if (written > 0) context.log.info(`${company.name}: files fetched`, { folder, written, pending });
    return pending === 0 && config.schedule.publish === "after_sync" ? await publishOne(scope) : null;
  } catch (error) {
    const { kind } = failureOf(error);
    const outcome = kind === "locked" ? null : logFailure(scope, "fetching files failed", error);
    return outcome === "database" && kind !== "database" ? "failed" : outcome;
  }
}

/** Stands in for `showing`: the lines of a run are over. */
function withoutLines<T>(_read: () => readonly string[], work: () => Promise<T>): Promise<T> {
  return work();
}

async function publishOne(scope: CompanyScope): Promise<Outcome | null> {
  const { log } = scope.context;
  const { name } = scope.company;
  try {
    const { outcome, file, bytes } = await publishCompany(scope);
    if (outcome === "written") log.info(`${name}: report written`, { file, bytes });
    else log.debug(`${name}: nothing changed since the last report`, { file });
    return null;
  } catch (error) {
    return failureOf(error).kind === "locked" ? null : logFailure(scope, "the report was not written", error);
  }
}

async function backupOne(scope: CompanyScope): Promise<Outcome | null> {
  const { log } = scope.context;
  const { keep, keys: withKeys } = scope.config.backup;
  try {
    const to = addressOfBackups(scope, undefined);
    const { id, bytes, removed } = await backupCompany(scope, { to, keep, withKeys });
    log.info(`${scope.company.name}: backup written`, { to, id, bytes, removed: removed.length });
    return null;
  } catch (error) {
    return failureOf(error).kind === "locked" ? null : logFailure(scope, "the backup failed", error);
  }
}

async function exportOne(scope: CompanyScope, wanted: ExportConfig): Promise<Outcome | null> {
  const { log } = scope.context;
  const { name } = scope.company;
  const { tables, partitionBy: partition, format, out, to } = wanted;
  const today = localDate(scope.context.clock.nowMs(), scope.config.schedule.timezone);
  const month = wanted.month === "previous" ? monthBefore(today) : today.slice(0, 7);
  const period = wanted.month === null ? null : periodOfMonth(month);
  const request = { ...wanted, tables: tables ?? [], partition, period, since: null, ifChanged: true };
  const where = out ?? to;
  try {
    const { unchanged, files } = await recorded(
      scope,
      exportStep(wanted),
      () => exportCompany(scope, request),
      (exported) => ({ unchanged: exported.unchanged, seq: null }),
    );
    if (unchanged) log.debug(`${name}: nothing changed since the last export`, { format, where });
    else log.info(`${name}: exported`, { format, where, files: files.length });
    return null;
  } catch (error) {
    return logFailure(scope, "the export failed", error, { format, where });
  }
}

function logFailure(
  { context: { log, signal }, company }: CompanyScope,
  what: string,
  error: unknown,
  fields: object = {},
): Outcome {
  const { kind, message, hint } = failureOf(error);
  if (signal.aborted) return "interrupted";
  log.error(`${company.name}: ${what}: ${message}`, { kind, ...fields, hint: hint ?? undefined });
  return "database";
}
