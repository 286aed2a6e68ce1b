import { chosenCompanies } from "../../config/companies.ts";
import { afterRun } from "../runs/after-run.ts";
import type { CommandRun } from "../program/command-table.ts";
import { worstOutcome, type Outcome } from "../program/exit-code.ts";

/** What `serve` starts beside itself: a report of millions of rows must not keep deliveries waiting. */
export const afterRunCommand: CommandRun<"afterRun"> = async (context, { loaded: { config } }) => {
  const outcomes: Outcome[] = [];
  for (const { name } of chosenCompanies(config, context.globals.company)) {
    outcomes.push(...(await afterRun(context, config, name, { outcome: "complete" })));
  }
  return worstOutcome(outcomes);
};
