import { MirrorError, type ErrorKind } from "../../base/errors.ts";
import { formatCount, formatDuration } from "../../base/units.ts";
import {
  differenceCount,
  type NamedRecords,
  type VerifiedResource,
  type VerifyReport,
} from "../../verify/report.ts";
import type { SampleSize } from "../../verify/sample.ts";
import { failureOf } from "../console/failure-text.ts";
import { printResult } from "../console/output.ts";
import { companyScopes } from "../mirror/company-scope.ts";
import { selectResources } from "../mirror/selected-resources.ts";
import { usualSample, type CommandOptions, type CommandRun } from "../program/command-table.ts";
import { worstOutcome, type Outcome } from "../program/exit-code.ts";
import { verifyCompany } from "../runs/verify-company.ts";

/** Compares the mirror of each company with the service and names every difference. */
export const verifyCommand: CommandRun<"verify"> = async (context, { options, loaded: { config } }) => {
  const sample = sampleOf(options);
  const { repair } = options;
  const by = `verify ${sample === "all" ? "--all" : `--sample ${sample}`}${repair ? " --repair" : ""}`;
  const resources = selectResources(context.connectors[0].manifest, config.resources, []);
  const scopes = companyScopes(context, config);
  const companies: Record<string, object> = {};
  const lines: string[] = [];
  const outcomes: Outcome[] = [];
  for (const scope of scopes) {
    const { name } = scope.company;
    try {
      const report = await verifyCompany(scope, { resources, sample, repair, by });
      companies[name] = report;
      lines.push(...reportLines(name, report));
      outcomes.push(outcomeOf(report));
      for (const { resource, message } of report.uncompared)
        context.log.warn(`${name}.${resource}: ${message}`);
    } catch (error) {
      if (!(error instanceof MirrorError) || scopes.length === 1 || context.signal.aborted) throw error;
      const failure = failureOf(error);
      companies[name] = { match: false, error: failure };
      outcomes.push(outcomeOfKind(error.kind));
      context.log.error(`${name}: ${failure.message}`, {
        kind: failure.kind,
        hint: failure.hint ?? undefined,
      });
    }
  }
  await printResult(context, { companies }, lines);
  return worstOutcome(outcomes);
};

function sampleOf({ sample, all }: CommandOptions<"verify">): SampleSize {
  if (all && sample !== undefined) throw new MirrorError("usage", "--all cannot be combined with --sample");
  return all ? "all" : (sample ?? usualSample);
}

function outcomeOf(report: VerifyReport): Outcome {
  if (differenceCount(report) > 0) return "difference";
  return report.uncompared.length > 0 ? "partial" : "complete";
}

function outcomeOfKind(kind: ErrorKind): Outcome {
  const own = (["unauthenticated", "identity", "database", "locked"] as const).find((one) => one === kind);
  return own ?? "failed";
}

function reportLines(company: string, report: VerifyReport): string[] {
  const { resources, uncompared, match, requests, records_compared, details_compared, details_total } =
    report;
  const tookMs = Date.parse(report.finished_at) - Date.parse(report.started_at);
  const count = differenceCount(report);
  const differ = `${formatCount(count)} ${count === 1 ? "record differs" : "records differ"}`;
  const verdict = match ? "equal to the service" : count > 0 ? differ : "not everything could be compared";
  const details = `${formatCount(details_compared)} of ${formatCount(details_total)} details`;
  const compared = `${formatCount(records_compared)} records and ${details} compared`;
  return [
    `${company}: ${verdict}: ${compared}, ${formatCount(requests)} requests in ${formatDuration(tookMs)}`,
    ...repairLines(report),
    ...Object.entries(resources).flatMap(([name, one]) => [
      ...countLines(name, one),
      ...namedLines(one).map((line) => `  ${name} ${line}`),
    ]),
    ...uncompared.map(
      ({ resource, id, message }) => `  not compared: ${resource}${id === null ? "" : ` ${id}`}: ${message}`,
    ),
  ];
}

/** What differed before the repair. */
function repairLines({ repair }: VerifyReport): string[] {
  if (!repair) return [];
  const found = Object.entries(repair.found).flatMap(([name, one]) =>
    namedLines(one).map((line) => `  before: ${name} ${line}`),
  );
  const count = formatCount(repair.repaired);
  return [`  ${count} ${repair.repaired === 1 ? "record was" : "records were"} repaired`, ...found];
}

function countLines(name: string, { service, mirror }: VerifiedResource): string[] {
  return service === mirror ? [] : [`  ${name}: ${service} at the service, ${mirror} in the mirror`];
}

function namedLines({ missing, extra, different, tombstoned }: NamedRecords): string[] {
  return [
    ...missing.map(({ id }) => `${id} is missing from the mirror`),
    ...tombstoned.map(({ id }) => `${id} is deleted in the mirror and alive at the service`),
    ...extra.map(({ id, why }) => `${id} is in the mirror only: ${why}`),
    ...different.map(
      ({ id, field, mirror, service }) =>
        `${id} differs in ${field}: mirror ${valueText(mirror)}, service ${valueText(service)}`,
    ),
  ];
}

const longestValue = 200;

function valueText(value: unknown): string {
  const text = typeof value === "bigint" ? String(value) : JSON.stringify(value, bigintText);
  return text.length > longestValue ? `${text.slice(0, longestValue)}…` : text;
}

function bigintText(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}
