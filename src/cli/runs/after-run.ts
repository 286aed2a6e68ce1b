import type { Config, ExportConfig } from "../../config/config.ts";
import type { CompanyReport } from "../../sync/context/run-report.ts";
import { failureOf } from "../console/failure-text.ts";
import type { CommandContext } from "../program/command.ts";
import type { Outcome } from "../program/exit-code.ts";
import { exportCompany, type CompanyExport } from "./export-company.ts";
import { publishCompany } from "./publish-company.ts";

/**
 * Makes what the config asks for after a run that brought something in: the report, then the exports.
 * Guarantee: never rejects, because the run is committed whatever becomes of them; failures are logged.
 * Returns an outcome for each that failed.
 */
export async function afterRun(
  parts: CommandContext,
  config: Config,
  company: string,
  { outcome }: Pick<CompanyReport, "outcome">,
): Promise<Outcome[]> {
  if (outcome !== "complete" && outcome !== "partial") return [];
  const context: CommandContext = { ...parts, showing: withoutLines };
  const outcomes: (Outcome | null)[] = [];
  if (config.schedule.publish === "after_sync") outcomes.push(await publishOne(context, config, company));
  for (const wanted of config.exports)
    if (wanted.after === "sync") outcomes.push(await exportOne(context, config, requestOf(wanted, company)));
  return outcomes.filter((one) => one !== null);
}

/** Stands in for `showing`: the lines of a run are over. */
function withoutLines<T>(_read: () => readonly string[], work: () => Promise<T>): Promise<T> {
  return work();
}

async function publishOne(context: CommandContext, config: Config, company: string): Promise<Outcome | null> {
  const { log, signal } = context;
  try {
    const { outcome, file, bytes } = await publishCompany(context, config, company);
    if (outcome === "written") log.info(`${company}: report written`, { file, bytes });
    else log.debug(`${company}: nothing changed since the last report`, { file });
    return null;
  } catch (error) {
    const { kind, message, hint } = failureOf(error);
    if (kind === "locked") return null;
    if (signal.aborted) return "interrupted";
    log.error(`${company}: the report was not written: ${message}`, { kind, hint: hint ?? undefined });
    return "database";
  }
}

function requestOf(wanted: ExportConfig, company: string): CompanyExport {
  const { format, out, to, dialect, tables, partitionBy: partition, nested } = wanted;
  const chosen = { company, tables: tables ?? [], format, dialect, partition, nested };
  return { ...chosen, out, to, since: null, ifChanged: true };
}

async function exportOne(
  context: CommandContext,
  config: Config,
  request: CompanyExport,
): Promise<Outcome | null> {
  const { log, signal } = context;
  const { company, format, out, to } = request;
  const where = out ?? to;
  try {
    const { unchanged, files } = await exportCompany(context, config, request);
    if (unchanged) log.debug(`${company}: nothing changed since the last export`, { format, where });
    else log.info(`${company}: exported`, { format, where, files: files.length });
    return null;
  } catch (error) {
    const { kind, message, hint } = failureOf(error);
    if (signal.aborted) return "interrupted";
    log.error(`${company}: the export failed: ${message}`, { kind, format, where, hint: hint ?? undefined });
    return "database";
  }
}
