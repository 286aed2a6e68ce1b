import { localDate } from "../../base/clock.ts";
import { MirrorError } from "../../base/errors.ts";
import type { SampleSize } from "../../verify/verification.ts";
import type { CompanyScope } from "../mirror/company-scope.ts";
import { usualSample, type CommandOptions, type CommandRun } from "../program/command-table.ts";
import { forEachCompany, type CompanyResult } from "../runs/each-company.ts";
import { verifyMirrorLocally } from "../verify/local-verification.ts";
import { resultOfMonth, resultOfReport, verifyCompany } from "../verify/service-verification.ts";

/** Compares the mirror of each company with the service, or with itself, and names every difference. */
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
