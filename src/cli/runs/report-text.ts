import { formatDuration } from "../../base/units.ts";
import type { CompanyReport } from "../../sync/context/run-report.ts";

/** A run for people: one line of outcome, one line for each resource that changed. Pure. */
export function reportLines(company: string, report: CompanyReport): string[] {
  const tookMs = Date.parse(report.finished_at) - Date.parse(report.started_at);
  const listed = Object.values(report.resources).reduce((sum, counts) => sum + counts.listed, 0);
  const resumed = report.resumed ? ", gone on with after an interruption" : "";
  const head = `${company}: ${report.outcome} in ${formatDuration(tookMs)}, ${report.requests.total} requests, ${listed} records listed${resumed}`;
  const lines = Object.entries(report.resources).flatMap(([name, counts]) => {
    const parts = (["inserted", "updated", "deleted", "failed"] as const)
      .filter((key) => counts[key] > 0)
      .map((key) => `${counts[key]} ${key}`);
    return parts.length === 0 ? [] : [`  ${name.padEnd(28)} ${parts.join(", ")}`];
  });
  const pending = Object.values(report.resources).reduce((sum, counts) => sum + counts.pending, 0);
  if (pending > 0) lines.push(`  ${pending} requests are left for the next run`);
  if (lines.length === 0 && report.outcome === "complete") lines.push("  nothing changed");
  return [head, ...lines];
}
