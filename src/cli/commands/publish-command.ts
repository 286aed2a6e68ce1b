import { formatSize } from "../../base/units.ts";
import { chosenCompanies } from "../../config/companies.ts";
import type { Published } from "../../report/publish-report.ts";
import type { CommandContext } from "../program/command.ts";
import type { CommandRun } from "./command-table.ts";
import { worstOutcome, type Outcome } from "../program/exit-code.ts";
import { failureOf } from "../console/failure-text.ts";
import { publishCompany } from "../runs/publish-company.ts";

export const publishCommand: CommandRun<"publish"> = async (context, { options, loaded: { config } }) => {
  const companies = chosenCompanies(config, context.globals.company);
  const results: Record<string, object> = {};
  const outcomes: Outcome[] = [];
  for (const { name } of companies) {
    try {
      const published = await publishCompany(context, config, name, options);
      results[name] = resultOf(published);
      await tell(context, name, published);
    } catch (error) {
      if (companies.length === 1 || context.signal.aborted) throw error;
      outcomes.push("database");
      results[name] = { outcome: "failed", error: failureOf(error) };
      const { kind, message, hint } = failureOf(error);
      context.log.error(`${name}: ${message}`, { kind, hint: hint ?? undefined });
    }
  }
  if (context.globals.json) await context.output.json({ companies: results });
  return worstOutcome(outcomes);
};

type Result = Published & { readonly datasette: string | null };

function resultOf({ outcome, way, file, bytes, seq, reportDate, datasette }: Result): object {
  return { outcome, way, file, bytes, seq, report_date: reportDate, datasette };
}

async function tell({ output, globals }: CommandContext, company: string, result: Result): Promise<void> {
  if (globals.json) return;
  const { outcome, file, bytes, datasette } = result;
  const what = outcome === "written" ? "report written" : "nothing changed since the last report";
  await output.line(`${company}: ${what}: ${file} (${formatSize(bytes)})`);
  if (datasette !== null) await output.line(`  datasette --immutable ${file} --metadata ${datasette}`);
}
