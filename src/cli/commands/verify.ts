import { MirrorError, type ErrorKind } from "../../base/errors.ts";
import type { SampleSize } from "../../verify/sample.ts";
import { failureOf } from "../console/failure-text.ts";
import { printResult } from "../console/output.ts";
import { companyScopes, type CompanyScope } from "../mirror/company-scope.ts";
import { selectResources } from "../mirror/selected-resources.ts";
import { usualSample, type CommandOptions, type CommandRun } from "../program/command-table.ts";
import { worstOutcome, type Outcome } from "../program/exit-code.ts";
import { verifyMirrorLocally } from "../verify/local-verification.ts";
import { verifyCompany } from "../verify/service-verification.ts";
import { resultOfReport, type CompanyResult } from "../verify/verification-text.ts";

/** Compares the mirror of each company with the service, or with itself, and names every difference. */
export const verifyCommand: CommandRun<"verify"> = async (context, { options, loaded: { config } }) => {
  const sample = sampleOf(options);
  const { repair, local } = options;
  const by = `verify ${sample === "all" ? "--all" : `--sample ${sample}`}${repair ? " --repair" : ""}`;
  const resources = selectResources(context.connectors[0].manifest, config.resources, []);
  const scopes = companyScopes(context, config);
  const verifyOne = async (scope: CompanyScope): Promise<CompanyResult> => {
    if (local) return verifyMirrorLocally(scope, { resources, repair });
    const report = await verifyCompany(scope, { resources, sample, repair, by });
    const { name } = scope.company;
    for (const { resource, message } of report.uncompared)
      context.log.warn(`${name}.${resource}: ${message}`);
    return resultOfReport(name, report);
  };
  const companies: Record<string, object> = {};
  const lines: string[] = [];
  const outcomes: Outcome[] = [];
  for (const scope of scopes) {
    const { name } = scope.company;
    try {
      const result = await verifyOne(scope);
      companies[name] = result.document;
      lines.push(...result.lines);
      outcomes.push(result.outcome);
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

function sampleOf({ sample, all, local }: CommandOptions<"verify">): SampleSize {
  const other = all ? "--all" : local ? "--local" : null;
  if (other !== null && (sample !== undefined || (all && local)))
    throw new MirrorError(
      "usage",
      `${other} cannot be combined with ${sample === undefined ? "--local" : "--sample"}`,
    );
  return all ? "all" : (sample ?? usualSample);
}

function outcomeOfKind(kind: ErrorKind): Outcome {
  const own = (["unauthenticated", "identity", "database", "locked"] as const).find((one) => one === kind);
  return own ?? "failed";
}
