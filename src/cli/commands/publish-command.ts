import { formatSize } from "../../base/units.ts";
import type { CommandRun } from "../program/command-table.ts";
import { forEachCompany } from "../runs/each-company.ts";
import { publishCompany } from "../runs/publish-company.ts";

/** Publishes the report of each company. */
export const publishCommand: CommandRun<"publish"> = (context, { options, loaded: { config } }) =>
  forEachCompany(context, config, async (scope) => {
    const { globals, output } = context;
    const published = await publishCompany(scope, options);
    const { outcome, way, file, bytes, seq, reportDate, datasette } = published;
    if (!globals.json) {
      const what = outcome === "written" ? "report written" : "nothing changed since the last report";
      await output.line(`${scope.company.name}: ${what}: ${file} (${formatSize(bytes)})`);
      if (datasette !== null) await output.line(`  datasette --immutable ${file} --metadata ${datasette}`);
    }
    return { outcome, way, file, bytes, seq, report_date: reportDate, datasette };
  });
