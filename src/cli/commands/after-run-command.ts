import { companyScopes } from "../mirror/company-scope.ts";
import type { CommandRun } from "../program/command-table.ts";
import { worstOutcome, type Outcome } from "../program/exit-code.ts";
import { afterRun } from "../runs/after-run.ts";

/** `serve` runs it as a process of its own, so that a report of millions of rows delays no delivery. */
export const afterRunCommand: CommandRun<"after-run"> = async (context, { loaded: { config } }) => {
  const outcomes: Outcome[] = [];
  for (const scope of companyScopes(context, config)) outcomes.push(...(await afterRun(scope)));
  return worstOutcome(outcomes);
};
