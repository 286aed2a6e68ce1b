import { MirrorError } from "../../base/errors.ts";
import type { SampleSize } from "../../verify/verification.ts";
import type { CompanyScope } from "../mirror/company-scope.ts";
import { selectResources } from "../mirror/selected-resources.ts";
import { usualSample, type CommandOptions, type CommandRun } from "../program/command-table.ts";
import { forEachCompany, type CompanyResult } from "../runs/each-company.ts";
import { verifyMirrorLocally } from "../verify/local-verification.ts";
import { verifyCompany, resultOfReport } from "../verify/service-verification.ts";

/** Compares the mirror of each company with the service, or with itself, and names every difference. */
export const verifyCommand: CommandRun<"verify"> = async (context, { options, loaded: { config } }) => {
  const sample = sampleOf(options);
  const { repair, local } = options;
  const by = `verify ${sample === "all" ? "--all" : `--sample ${sample}`}${repair ? " --repair" : ""}`;
  const resources = selectResources(context.connectors[0].manifest, config.resources, []);
  const verifyOne = async (scope: CompanyScope): Promise<CompanyResult> => {
    if (local) return verifyMirrorLocally(scope, { resources, repair });
    const report = await verifyCompany(scope, { resources, sample, repair, by });
    const { name } = scope.company;
    for (const { resource, message } of report.uncompared)
      context.log.warn(`${name}.${resource}: ${message}`);
    return resultOfReport(name, report);
  };
  return forEachCompany(context, config, verifyOne, { failed: { match: false } });
};

function sampleOf({ sample, all, local }: CommandOptions<"verify">): SampleSize {
  const other = all ? "--all" : local ? "--local" : null;
  if (other !== null && (sample !== undefined || (all && local)))
    throw new MirrorError(
      "usage",
      `${other} cannot be combined with ${sample === undefined ? "--local" : "--sample"}`,
    );
  return all ? "all" : (sample ?? usualSample);
}
