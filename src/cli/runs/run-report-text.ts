import type { Log } from "../../base/logger.ts";
import { formatCount, formatDuration } from "../../base/units.ts";
import type { CompanyReport, ScrubReport } from "../../sync/context/run-report.ts";
import { printResult } from "../console/output.ts";
import type { CommandContext } from "../program/command.ts";

/**
 * Prints the reports by company, and logs everything that is incomplete, whatever stdout is used for. A quiet command
 * prints those only that are not complete.
 */
export async function printReports(
  context: CommandContext,
  reports: ReadonlyMap<string, CompanyReport>,
): Promise<void> {
  for (const [company, report] of reports) logTroubles(context.log, company, report);
  const { quiet } = context.globals;
  const shown = [...reports].filter(([, { outcome }]) => !quiet || outcome !== "complete");
  const lines = shown.flatMap(([company, report]) => reportLines(company, report));
  await printResult(context, { companies: Object.fromEntries(reports) }, lines);
}

function logTroubles(log: Log, company: string, report: CompanyReport): void {
  for (const { resource, message, hint, kind } of report.troubles)
    log.warn(`${company}.${resource}: ${message}`, { kind, hint });
  if (report.error) {
    const { message, kind, hint, request_id } = report.error;
    log.error(`${company}: ${message}`, { kind, hint, request_id });
  }
  // Those of a complete run are not due yet: records of events are read once more after a minute.
  const pending = sumOf(report, "pending");
  if (pending > 0 && report.outcome !== "complete") log.warn(`${company}: ${leftText(pending)}`);
}

function leftText(pending: number): string {
  return pending === 1
    ? "1 request is left for the next run"
    : `${pending} requests are left for the next run`;
}

/** The outcome of a run in one line, and one line for each resource that changed. */
function reportLines(company: string, report: CompanyReport): string[] {
  const tookMs = Date.parse(report.finished_at) - Date.parse(report.started_at);
  const resumed = report.resumed ? ", resumed after an interruption" : "";
  const head = `${company}: ${report.outcome} in ${formatDuration(tookMs)}, ${report.requests.total} requests, ${sumOf(report, "listed")} records listed${resumed}`;
  const { scrub } = report;
  const lines = Object.entries(report.resources).flatMap(([name, counts]) => {
    const parts = (["inserted", "updated", "hydrated", "deleted", "failed"] as const)
      .filter((key) => counts[key] > 0)
      .map((key) => `${counts[key]} ${key}`);
    if (counts.provisional > 0) parts.push(`${counts.provisional} without their detail`);
    return parts.length === 0 ? [] : [`  ${name.padEnd(28)} ${parts.join(", ")}`];
  });
  const pending = sumOf(report, "pending");
  if (pending > 0) lines.push(`  ${leftText(pending)}`);
  if (lines.length === 0 && report.outcome === "complete") lines.push("  nothing changed");
  if (scrub && scrub.planned > 0) lines.push(scrubLine(scrub));
  return [head, ...lines];
}

function scrubLine({ total, read, changed, left }: ScrubReport): string {
  const rest = left > 0 ? `; ${formatCount(left)} are left for another run` : "";
  return `  scrub: ${formatCount(read)} of ${formatCount(total)} re-read, ${formatCount(changed)} changed${rest}`;
}

function sumOf({ resources }: CompanyReport, key: "listed" | "pending"): number {
  return Object.values(resources).reduce((sum, counts) => sum + counts[key], 0);
}
