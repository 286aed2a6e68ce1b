import { formatSize } from "../../base/units.ts";
import type { CommandContext } from "../program/command.ts";
import { forEachCompany } from "../runs/each-company.ts";
import { publishCompany } from "../runs/publish-company.ts";
import type { CommandRun } from "../program/command-table.ts";

export const publishCommand: CommandRun<"publish"> = (context, { options, loaded: { config } }) =>
  forEachCompany(context, config, async (company) => {
    const published = await publishCompany(context, config, company, options);
    await print(context, company, published);
    const { outcome, way, file, bytes, seq, reportDate, datasette } = published;
    return { outcome, way, file, bytes, seq, report_date: reportDate, datasette };
  });

async function print(
  { output, globals }: CommandContext,
  company: string,
  { outcome, file, bytes, datasette }: Awaited<ReturnType<typeof publishCompany>>,
): Promise<void> {
  if (globals.json) return;
  const what = outcome === "written" ? "report written" : "nothing changed since the last report";
  await output.line(`${company}: ${what}: ${file} (${formatSize(bytes)})`);
  if (datasette !== null) await output.line(`  datasette --immutable ${file} --metadata ${datasette}`);
}
