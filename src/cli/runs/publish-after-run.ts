import type { Config } from "../../config/config.ts";
import type { CompanyReport } from "../../sync/context/run-report.ts";
import type { CommandContext } from "../program/command.ts";
import type { Outcome } from "../program/exit-code.ts";
import { failureOf } from "../console/failure-text.ts";
import { quietly } from "../console/quietly.ts";
import { publishCompany } from "./publish-company.ts";

type Context = Pick<CommandContext, "connectors" | "clock" | "version" | "signal" | "log">;

/**
 * What follows a run that brought something in, as the config asks: the report. Never throws: the run is
 * committed whatever becomes of it. The outcome is that of the publishing; null where there is nothing to tell.
 */
export async function publishAfterRun(
  context: Context,
  config: Config,
  company: string,
  { outcome }: Pick<CompanyReport, "outcome">,
): Promise<Outcome | null> {
  const { log, signal } = context;
  if (config.schedule.publish !== "after_sync") return null;
  if (outcome !== "complete" && outcome !== "partial") return null;
  try {
    const published = await publishCompany({ ...context, showing: quietly }, config, company);
    const { file, bytes } = published;
    if (published.outcome === "written") log.info(`${company}: report written`, { file, bytes });
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
