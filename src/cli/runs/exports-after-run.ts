import type { Config, ExportConfig } from "../../config/config.ts";
import type { CompanyReport } from "../../sync/context/run-report.ts";
import type { CommandContext } from "../program/command.ts";
import type { Outcome } from "../program/exit-code.ts";
import { exportCompany, type CompanyExport } from "./export-company.ts";
import { failureOf } from "../console/failure-text.ts";
import { quietly } from "../console/quietly.ts";

type Context = Pick<
  CommandContext,
  "connectors" | "clock" | "version" | "signal" | "log" | "env" | "keepSecret"
>;

/**
 * The config's `exports` with `after: sync`, once a run has brought something in. Never throws: the run is
 * committed whatever becomes of them. The worst outcome; null where there is nothing to tell.
 */
export async function exportsAfterRun(
  context: Context,
  config: Config,
  company: string,
  { outcome }: Pick<CompanyReport, "outcome">,
): Promise<Outcome | null> {
  if (outcome !== "complete" && outcome !== "partial") return null;
  let worst: Outcome | null = null;
  for (const wanted of config.exports.filter(({ after }) => after === "sync")) {
    const failed = await exportOne(context, config, requestOf(wanted, company));
    worst = failed ?? worst;
  }
  return worst;
}

function requestOf(wanted: ExportConfig, company: string): CompanyExport {
  const { format, out, to, dialect, tables, partitionBy: partition, nested } = wanted;
  const chosen = { company, tables: tables ?? [], format, dialect, partition, nested };
  return { ...chosen, out, to, since: null, ifChanged: true };
}

async function exportOne(context: Context, config: Config, request: CompanyExport): Promise<Outcome | null> {
  const { log, signal } = context;
  const { company, format, out, to } = request;
  const where = out ?? to;
  try {
    const { unchanged, files } = await exportCompany({ ...context, showing: quietly }, config, request);
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
