import { chosenCompanies } from "../../config/companies.ts";
import { afterRun } from "../runs/after-run.ts";
import { command } from "../program/command.ts";
import { worstOutcome, type Outcome } from "../program/exit-code.ts";

/** What `serve` starts beside itself: a report of millions of rows must not keep deliveries waiting. */
export const afterRunCommand = command({
  name: "after-run",
  summary: "what follows a run: the report and the exports that the config asks for, where anything changed",
  options: {},
  run: async (context) => {
    const { config } = context.config("when_used");
    const outcomes: Outcome[] = [];
    for (const { name } of chosenCompanies(config, context.globals.company)) {
      outcomes.push(...(await afterRun(context, config, name, { outcome: "complete" })));
    }
    return worstOutcome(outcomes);
  },
});
