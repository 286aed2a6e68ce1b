import { statusQuestion } from "../../daemon/status-question.ts";
import { readStatus, statusOutcome } from "../../status/read-status.ts";
import type { CompanyStatus } from "../../status/company-status.ts";
import { statusLines } from "../../status/render/status-text.ts";
import { printResult } from "../console/output.ts";
import { companyScopes, readMirror } from "../mirror/company-scope.ts";
import { selectResources } from "../mirror/selected-resources.ts";
import type { CommandRun } from "../program/command-table.ts";
import { worstOutcome } from "../program/exit-code.ts";

/** Prints how every company's mirror stands. */
export const statusCommand: CommandRun<"status"> = async (context, { options, loaded: { config } }) => {
  const times = { maxAgeMs: options.maxAge ?? null, nowMs: context.clock.nowMs() };
  const companies: Record<string, CompanyStatus> = {};
  for (const scope of companyScopes(context, config)) {
    const resources = selectResources(scope.manifest, config.resources, []);
    const { clock, log } = context;
    const question = statusQuestion({ ...scope, resources }, { manifest: scope.manifest, clock, log });
    companies[scope.company.name] = await readMirror(scope, (db) =>
      readStatus({ ...question, ...times, db }),
    );
  }
  const { columns } = context.output;
  const lines = Object.entries(companies).flatMap(([name, one]) =>
    statusLines(name, one, times.nowMs, columns),
  );
  await printResult(context, { companies }, lines);
  return worstOutcome(Object.values(companies).map((one) => statusOutcome(one, times.nowMs)));
};
