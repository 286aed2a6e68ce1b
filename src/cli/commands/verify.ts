import { localDate } from "../../base/clock.ts";
import { MirrorError } from "../../base/errors.ts";
import type { SampleSize } from "../../verify/verification.ts";
import { readExisting, type CompanyScope } from "../mirror/company-scope.ts";
import { usualSample, type CommandOptions, type CommandRun } from "../program/command-table.ts";
import { letHeapGrow } from "../program/own-process.ts";
import { forEachCompany, type CompanyResult } from "../runs/each-company.ts";
import { resultOfMonth, resultOfReport, verifyCompany, valueText } from "../verify/service-verification.ts";
import { formatCount } from "../../base/units.ts";
import { takeWriterLock } from "../../store/writer-lock.ts";
import type { ResourceCheck } from "../../verify/local/check-locally.ts";
import type { JudgeOptions } from "../../verify/local/judge-records.ts";
import { verifyLocally, type LocalVerification } from "../../verify/local/repair-locally.ts";

export const verifyCommand: CommandRun<"verify"> = async (context, { options, loaded: { config } }) => {
  const sample = sampleOf(options);
  const { repair, local, month } = options;
  const what = month === undefined ? (sample === "all" ? "--all" : `--sample ${sample}`) : `--month ${month}`;
  const by = `verify ${what}${repair ? " --repair" : ""}`;
  const today = localDate(context.clock.nowMs(), config.schedule.timezone);
  if (month !== undefined && month > today.slice(0, 7))
    throw new MirrorError("usage", `--month ${month} has not begun yet: today is ${today}`);
  const verifyOne = async (scope: CompanyScope): Promise<CompanyResult> => {
    if (local) return verifyMirrorLocally(scope, repair);
    const report = await verifyCompany(scope, { sample, repair, by, month });
    const { name } = scope.company;
    if ("month" in report) return resultOfMonth(name, report);
    for (const { resource, message } of report.uncompared)
      context.log.warn(`${name}.${resource}: ${message}`);
    return resultOfReport(name, report);
  };
  return forEachCompany(context, config, verifyOne, { failed: { match: false } });
};

function sampleOf({ sample, all, local, month }: CommandOptions<"verify">): SampleSize {
  if (month !== undefined && (all || local || sample !== undefined))
    throw new MirrorError("usage", "--month cannot be combined with --sample, --all or --local");
  const other = all ? "--all" : local ? "--local" : null;
  if (other !== null && (sample !== undefined || (all && local)))
    throw new MirrorError(
      "usage",
      `${other} cannot be combined with ${sample === undefined ? "--local" : "--sample"}`,
    );
  return all ? "all" : (sample ?? usualSample);
}

/**
 * Checks one company's mirror against itself, and repairs it if that is asked for. Sends no request.
 *
 * @throws MirrorError `database` without a mirror, `locked` where another process writes the one that is to be repaired
 */
async function verifyMirrorLocally(scope: CompanyScope, repair: boolean): Promise<CompanyResult> {
  const { files, context, manifest, company, resources } = scope;
  const { clock, log, signal } = context;
  await readExisting(scope, () => undefined);
  const selected = new Set(resources.map(({ name }) => name));
  using _ = repair ? takeWriterLock(files.lock, "verify --local --repair") : null;
  // A hundred records are in use at a time: a larger heap only keeps them longer.
  letHeapGrow(false);
  let line = () => `${company.name}: checking the file`;
  const onProgress: JudgeOptions["onProgress"] = ({ resource, records }) =>
    void (line = () => `${company.name}: ${resource}, ${formatCount(records)} records`);
  const options = { repair, clock, log, signal, selected, onProgress };
  const verified = await context.showing(
    () => [line()],
    () => verifyLocally(files.mirror, manifest, options),
  );
  return resultOf(company.name, verified);
}

function resultOf(company: string, { found, repair, result }: LocalVerification): CompanyResult {
  const { match, records, resources, problems } = result;
  const verdict = match ? "fits together" : "is damaged";
  const head = `${company}: the mirror ${verdict}: ${formatCount(records)} records checked, no request sent`;
  const queued = repair?.queued
    ? `; the next \`sync\` reads ${formatCount(repair.queued)} of them from the service`
    : "";
  return {
    document: { local: true, ...result, ...(repair && { repair: { ...repair, found } }) },
    outcome: match ? "complete" : "difference",
    lines: [
      head,
      ...(repair ? [`  repaired: ${formatCount(repair.repaired)} records${queued}`] : []),
      ...problems.map(({ message, hint }) => `  ${message} ${hint}`),
      ...Object.entries(resources).flatMap(([name, check]) =>
        recordLines(check).map((line) => `  ${name} ${line}`),
      ),
      ...(match || repair
        ? []
        : ["  `fintoro-mirror verify --local --repair` makes rows again from what was received"]),
    ],
  };
}

function recordLines({ missing, extra, different, unnamed }: ResourceCheck): string[] {
  return [
    ...missing.map(({ id }) => `${id} has no row`),
    ...extra.map(({ id }) => `${id} has a row without a record`),
    ...different.map(
      ({ id, field, mirror, raw }) =>
        `${id} differs in ${field}: mirror ${valueText(mirror)}, its record ${valueText(raw)}`,
    ),
    ...(unnamed > 0 ? [`and ${formatCount(unnamed)} more`] : []),
  ];
}
