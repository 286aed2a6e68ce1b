import { terminalText } from "../../base/terminal-text.ts";
import { formatCount, formatDuration } from "../../base/units.ts";
import {
  differenceCount,
  type NamedRecords,
  type VerifiedResource,
  type VerifyReport,
} from "../../verify/report.ts";
import type { CompanyResult } from "../runs/each-company.ts";

/** The result of a comparison with the service. Pure. */
export function resultOfReport(company: string, report: VerifyReport): CompanyResult {
  const hasGaps = report.uncompared.length > 0;
  const outcome = differenceCount(report) > 0 ? "difference" : hasGaps ? "partial" : "complete";
  return { document: report, lines: reportLines(company, report), outcome };
}

function reportLines(company: string, report: VerifyReport): string[] {
  const { resources, uncompared, match, requests, records_compared, details_compared, details_total } =
    report;
  const { resumed } = report;
  const tookMs = Date.parse(report.finished_at) - Date.parse(report.started_at);
  const count = differenceCount(report);
  const differ = `${formatCount(count)} ${count === 1 ? "record differs" : "records differ"}`;
  const verdict = match ? "equal to the service" : count > 0 ? differ : "not everything could be compared";
  const details = `${formatCount(details_compared)} of ${formatCount(details_total)} details`;
  const compared = `${formatCount(records_compared)} records and ${details} compared`;
  return [
    `${company}: ${verdict}: ${compared}, ${formatCount(requests)} requests in ${formatDuration(tookMs)}`,
    ...(resumed
      ? [`  resumed: ${formatCount(resumed.details)} of these details were compared since ${resumed.since}`]
      : []),
    ...repairLines(report),
    ...Object.entries(resources).flatMap(([name, one]) => [
      ...countLines(name, one),
      ...namedLines(one).map((line) => `  ${name} ${line}`),
    ]),
    ...uncompared.map(
      ({ resource, id, message }) => `  not compared: ${resource}${id === null ? "" : ` ${id}`}: ${message}`,
    ),
    ...(count > 0 && !report.repair ? ["  `fintoro-mirror verify --repair` reads them again"] : []),
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

/** A value as a line shows it: shortened, and safe for a terminal. */
export function valueText(value: unknown): string {
  const text = typeof value === "bigint" ? String(value) : JSON.stringify(value, bigintText);
  return terminalText(text, longestValue);
}

function bigintText(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}
