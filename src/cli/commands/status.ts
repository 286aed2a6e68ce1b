import { parentsPerRun } from "../../daemon/runs/company-run.ts";
import { readStatus, statusOutcome, type StatusQuestion } from "../../status/read-status.ts";
import type { CompanyStatus } from "../../status/company-status.ts";
import { stepsOf } from "../../status/after-run-record.ts";
import { filedResources, fileKinds } from "../../state/files/pending-files.ts";
import { statusLines } from "../../status/render/status-text.ts";
import { printResult } from "../console/output.ts";
import { companyScopes, readMirror, type CompanyScope } from "../mirror/company-scope.ts";
import { selectResources } from "../mirror/selected-resources.ts";
import type { CommandRun } from "../program/command-table.ts";
import { worstOutcome } from "../program/exit-code.ts";

/** Prints how every company's mirror stands. */
export const statusCommand: CommandRun<"status"> = async (context, { options, loaded: { config } }) => {
  const question = { maxAgeMs: options.maxAge ?? null, nowMs: context.clock.nowMs() };
  const companies: Record<string, CompanyStatus> = {};
  for (const scope of companyScopes(context, config))
    companies[scope.company.name] = await companyStatus(scope, question);
  const lines = Object.entries(companies).flatMap(([name, one]) => statusLines(name, one, question.nowMs));
  await printResult(context, { companies }, lines);
  return worstOutcome(Object.values(companies).map((one) => statusOutcome(one, question.nowMs)));
};

function companyStatus(
  scope: CompanyScope,
  question: Pick<StatusQuestion, "maxAgeMs" | "nowMs">,
): Promise<CompanyStatus> {
  const { context, manifest, files, config } = scope;
  const { clock, log } = context;
  const selected = selectResources(manifest, config.resources, []);
  const kinds = fileKinds(config);
  return readMirror(scope, (db) =>
    readStatus({
      db,
      files,
      manifest,
      resources: new Set(selected.map(({ name }) => name)),
      scrub: {
        settings: config.scrub,
        parentsPerRun: parentsPerRun(manifest, config),
        windowMs: config.rateLimit.windowMs,
      },
      steps: stepsOf(config),
      filed: filedResources(selected).filter(({ files: { kind } }) => kinds.includes(kind)),
      ...question,
      clock,
      log,
    }),
  );
}
