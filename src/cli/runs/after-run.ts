import type { Config } from "../../config/config.ts";
import type { CompanyReport } from "../../sync/context/run-report.ts";
import type { CommandContext } from "../program/command.ts";
import type { Outcome } from "../program/exit-code.ts";
import { exportsAfterRun } from "./exports-after-run.ts";
import { publishAfterRun } from "./publish-after-run.ts";

/** All that the config asks for after a run, in this order. Never throws; what did not go well. */
export async function afterRun(
  context: CommandContext,
  config: Config,
  company: string,
  report: Pick<CompanyReport, "outcome">,
): Promise<Outcome[]> {
  const outcomes: (Outcome | null)[] = [];
  for (const step of [publishAfterRun, exportsAfterRun])
    outcomes.push(await step(context, config, company, report));
  return outcomes.filter((outcome) => outcome !== null);
}
