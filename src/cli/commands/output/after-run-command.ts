import path from "node:path";
import { localDate } from "../../../base/clock.ts";
import { MirrorError } from "../../../base/errors.ts";
import { parseEffectiveConfig, secretTexts } from "../../../config/companies.ts";
import type { ExportConfig } from "../../../config/config.ts";
import type { AfterRunScope } from "../../../host/after-run-queue.ts";
import { monthBefore, periodOfMonth } from "../../../export/plan/period.ts";
import { retries } from "../../../retry/retry-limits.ts";
import { fileKinds, usualQuestion } from "../../../state/files/pending-files.ts";
import { exportStep } from "../../../status/after-run-record.ts";
import { failureOf, levelOf } from "../../console/console.ts";
import { soleScope, type CompanyScope } from "../../mirror/company-scope.ts";
import type { CommandContext } from "../../program/command.ts";
import type { CommandRun } from "../../program/command-table.ts";
import { worstOutcome, type CommandOutcome } from "../../program/exit-code.ts";
import { outcomeOf, recorded, type CompanyResult } from "../../runs/each-company.ts";
import { publishCompany } from "./publish-command.ts";

/**
 * `serve` runs it as a process of its own, so that a report of millions of rows delays no delivery. The config comes on
 * stdin: the daemon's own, not the one that stands in the file by now.
 */
export const afterRunCommand: CommandRun<"after-run"> = async (context, { options }) => {
  const text = await context.readInput();
  if (text.trim() === "")
    throw new MirrorError("usage", "after-run is for serve, which gives it a config on stdin", {
      hint: "`publish` writes the report, and `export` the files.",
    });
  const config = parseEffectiveConfig(text);
  context.onSecrets(secretTexts(config));
  if (levelOf(context.globals) === null) context.log.setLevel(config.log.level);
  return worstOutcome(await afterRun(soleScope(context, config), options.only));
};

/** Reports of other companies wait no longer than this for files. */
const filesSliceMs = 60_000;

/**
 * Makes what the config asks for after a run that brought something in (`isWorthPublishing`): the report, then the
 * exports; or the report alone, a backup, or files. The code of those that few runs make, with its libraries, is
 * imported when it is needed.
 * Guarantee: never rejects, because the run is committed whatever becomes of them; failures are logged.
 * Returns an outcome for each that failed.
 */
export async function afterRun({ context, config, ...company }: CompanyScope, only: AfterRunScope = "all") {
  const scope = { ...company, config, context: { ...context, showing: withoutLines } };
  const outcomes: (CommandOutcome | null)[] = [];
  if (only === "backup")
    outcomes.push(
      await attempt(scope, "the backup failed", async () => {
        const { backupCompany } = await import("../upkeep/backup.ts");
        return backupCompany(scope);
      }),
    );
  else if (only === "files") outcomes.push(await filesOne(scope));
  else if (only === "report" || config.schedule.publish === "after_sync")
    outcomes.push(await publishOne(scope));
  for (const wanted of config.exports)
    if (only === "all" && wanted.after === "sync") outcomes.push(await exportOne(scope, wanted));
  return outcomes.filter((one) => one !== null);
}

/** The lines of a run are over. */
const withoutLines: CommandContext["showing"] = (work) => work(() => undefined);

function publishOne(scope: CompanyScope): Promise<CommandOutcome | null> {
  return attempt(scope, "the report was not written", () => publishCompany(scope));
}

/** Fetches files, and writes the report again when none is missing any more. Gives an outcome where it fails. */
export async function filesOne(scope: CompanyScope, closed?: AbortSignal, mostRequests?: number) {
  const { isReportDue, outcome } = await fetchFilesOf(scope, closed, mostRequests);
  return isReportDue ? publishOne(scope) : outcome;
}

/** Fetches files until none is missing, when a report may be due, or `closed` aborts. One without its file is no failure. */
export async function fetchFilesOf(
  scope: CompanyScope,
  closed = AbortSignal.timeout(filesSliceMs),
  mostRequests?: number,
) {
  const { config, context } = scope;
  const question = usualQuestion(context.clock.nowMs());
  const request = { kinds: fileKinds(config), question, closed, mostRequests };
  let isReportDue = false;
  const outcome = await attempt(scope, "fetching files failed", async () => {
    const { fetchCompanyFiles } = await import("../upkeep/files.ts");
    const fetched = await fetchCompanyFiles(scope, request);
    isReportDue = fetched.pending === 0 && config.schedule.publish === "after_sync";
    return fetched;
  });
  return { isReportDue, outcome };
}

function exportOne(scope: CompanyScope, wanted: ExportConfig): Promise<CommandOutcome | null> {
  const { tables, partitionBy: partition, format, out } = wanted;
  // The company's owner in a fleet sends it.
  const to = path.dirname(out) === scope.files.unsentExports ? null : wanted.to;
  const today = localDate(scope.context.clock.nowMs(), scope.config.schedule.timezone);
  const month = wanted.month === "previous" ? monthBefore(today) : today.slice(0, 7);
  const period = wanted.month === null ? null : periodOfMonth(month);
  const request = { ...wanted, to, tables: tables ?? [], partition, period, since: null, ifChanged: true };
  const work = async () => {
    const { exportCompany } = await import("./export.ts");
    const made = await recorded(scope, exportStep(wanted, scope.config), () => exportCompany(scope, request));
    return { ...made, lines: made.lines.map((line) => `${line} (exported as ${format})`) };
  };
  return attempt(scope, `the export of ${format} to ${wanted.to ?? out} failed`, work, retries.exportFolder);
}

/**
 * Never rejects: logs a failure, and gives its outcome, which is that of the command that makes the same.
 *
 * @param wait until another process, which makes other files there, has ended; null: it makes the same
 */
async function attempt(
  { context: { log, signal, clock }, company }: CompanyScope,
  what: string,
  work: () => Promise<CompanyResult>,
  wait: typeof retries.exportFolder | null = null,
): Promise<CommandOutcome | null> {
  const untilMs = clock.monotonicMs() + (wait?.longestMs ?? 0);
  for (;;) {
    try {
      const { isUnchanged = false, lines } = await work();
      log[isUnchanged ? "debug" : "info"](lines[0] ?? "");
      return null;
    } catch (error) {
      const { kind, message, hint } = failureOf(error);
      const isLocked = kind === "locked";
      if (isLocked && !wait) return null;
      if (signal.aborted) return "interrupted";
      if (!isLocked || !wait || clock.monotonicMs() >= untilMs) {
        log.error(`${company.name}: ${what}: ${message}`, { kind, hint: hint ?? undefined });
        return outcomeOf(error);
      }
      await clock.sleep(wait.everyMs, signal);
    }
  }
}
