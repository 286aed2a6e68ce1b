import { chosenCompanies } from "../../config/companies.ts";
import { afterRun } from "../runs/after-run.ts";
import type { CommandRun } from "../program/command-table.ts";
import { worstOutcome, type Outcome } from "../program/exit-code.ts";

/** `serve` runs it as a process of its own, so that a report of millions of rows delays no delivery. */
export const afterRunCommand: CommandRun<"afterRun"> = async (context, { loaded: { config } }) => {
  const outcomes: Outcome[] = [];
  for (const { name } of chosenCompanies(config, context.globals.company)) {
    outcomes.push(...(await afterRun(context, config, name, { outcome: "complete" })));
  }
  return worstOutcome(outcomes);
};
