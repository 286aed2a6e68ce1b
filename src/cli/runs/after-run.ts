import { localDate } from "../../base/clock.ts";
import type { ExportConfig } from "../../config/config.ts";
import { monthBefore, periodOfMonth } from "../../export/plan/period.ts";
import { fileKinds, usualQuestion } from "../../state/files/pending-files.ts";
import type { AfterRunScope } from "../../daemon/after-run-queue.ts";
import { exportStep } from "../../status/after-run-record.ts";
import { failureOf } from "../console/failure-text.ts";
import type { CompanyScope } from "../mirror/company-scope.ts";
import type { Outcome } from "../program/exit-code.ts";
import { outcomeOf } from "./each-company.ts";
import { publishCompany } from "./publish-company.ts";
import { recorded } from "./recorded-step.ts";

/**
 * Makes what the config asks for after a run that brought something in (`isWorthPublishing`): the report, then the
 * exports; or the report alone, a backup, or files. The code of those that few runs make, with its libraries, is
 * imported when it is needed.
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
  else if (only === "files") outcomes.push(await filesOne(scope, AbortSignal.timeout(filesSliceMs)));
  else if (only === "report" || config.schedule.publish === "after_sync")
    outcomes.push(await publishOne(scope));
  for (const wanted of config.exports)
    if (only === "all" && wanted.after === "sync") outcomes.push(await exportOne(scope, wanted));
  return outcomes.filter((one) => one !== null);
}

/** Reports of other companies wait no longer than this for files. */
const filesSliceMs = 60_000;

/**
 * Fetches files until none is missing or `closed` aborts, and writes the report again when that was all. Gives an outcome
 * where it fails; one record without its file is no failure.
 */
export async function filesOne(
  scope: CompanyScope,
  closed: AbortSignal,
  mostRequests?: number,
): Promise<Outcome | null> {
  const { config, company, context } = scope;
  const question = usualQuestion(context.clock.nowMs());
  const request = { kinds: fileKinds(config), question, closed, mostRequests };
  let isAll = false;
  const outcome = await attempt(scope, "fetching files failed", async () => {
    const { fetchCompanyFiles } = await import("./files-company.ts");
    const { written, pending, folder } = await fetchCompanyFiles(scope, request);
    if (written > 0) context.log.info(`${company.name}: files fetched`, { folder, written, pending });
    isAll = pending === 0;
  });
  return isAll && config.schedule.publish === "after_sync" ? publishOne(scope) : outcome;
}

/** Stands in for `showing`: the lines of a run are over. */
function withoutLines<T>(_read: () => readonly string[], work: () => Promise<T>): Promise<T> {
  return work();
}

function publishOne(scope: CompanyScope): Promise<Outcome | null> {
  const { log } = scope.context;
  const { name } = scope.company;
  return attempt(scope, "the report was not written", async () => {
    const { outcome, file, bytes } = await publishCompany(scope);
    if (outcome === "written") log.info(`${name}: report written`, { file, bytes });
    else log.debug(`${name}: nothing changed since the last report`, { file });
  });
}

function backupOne(scope: CompanyScope): Promise<Outcome | null> {
  const { keep, keys: withKeys } = scope.config.backup;
  return attempt(scope, "the backup failed", async () => {
    const { addressOfBackups, backupCompany } = await import("./backup-company.ts");
    const to = addressOfBackups(scope, undefined);
    const { id, bytes, removed } = await backupCompany(scope, { to, keep, withKeys });
    const facts = { to, id, bytes, removed: removed.length };
    scope.context.log.info(`${scope.company.name}: backup written`, facts);
  });
}

function exportOne(scope: CompanyScope, wanted: ExportConfig): Promise<Outcome | null> {
  const { log, clock } = scope.context;
  const { name } = scope.company;
  const { tables, partitionBy: partition, format, out, to } = wanted;
  const today = localDate(clock.nowMs(), scope.config.schedule.timezone);
  const month = wanted.month === "previous" ? monthBefore(today) : today.slice(0, 7);
  const period = wanted.month === null ? null : periodOfMonth(month);
  const request = { ...wanted, tables: tables ?? [], partition, period, since: null, ifChanged: true };
  const fields = { format, where: out ?? to };
  const work = async () => {
    const { exportCompany } = await import("./export-company.ts");
    const { unchanged, files } = await recorded(
      scope,
      exportStep(wanted),
      () => exportCompany(scope, request),
      (exported) => ({ unchanged: exported.unchanged, seq: exported.manifest.seq }),
    );
    if (unchanged) log.debug(`${name}: nothing changed since the last export`, fields);
    else log.info(`${name}: exported`, { ...fields, files: files.length });
  };
  // Who holds the lock may be writing other files there.
  return attempt(scope, `the export of ${format} to ${to ?? out} failed`, work, { isLockFailure: true });
}

/** Never rejects: logs a failure, and gives its outcome, which is that of the command that makes the same. */
async function attempt(
  { context: { log, signal }, company }: CompanyScope,
  what: string,
  work: () => Promise<void>,
  { isLockFailure = false } = {},
): Promise<Outcome | null> {
  try {
    await work();
    return null;
  } catch (error) {
    const { kind, message, hint } = failureOf(error);
    // Otherwise another process makes the same.
    if (kind === "locked" && !isLockFailure) return null;
    if (signal.aborted) return "interrupted";
    log.error(`${company.name}: ${what}: ${message}`, { kind, hint: hint ?? undefined });
    return outcomeOf(error);
  }
}
