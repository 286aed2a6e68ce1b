import { formatSize } from "../../base/units.ts";
import type { CommandRun } from "../program/command-table.ts";
import { forEachCompany } from "../runs/each-company.ts";
import { publishCompany } from "../runs/publish-company.ts";

/** Publishes the report of each company. */
export const publishCommand: CommandRun<"publish"> = (context, { options, loaded: { config } }) =>
  forEachCompany(context, config, async (scope) => {
    const { outcome, way, file, bytes, seq, reportDate, datasette } = await publishCompany(scope, options);
    const what = outcome === "written" ? "report written" : "nothing changed since the last report";
    const more = datasette === null ? [] : [`  datasette --immutable ${file} --metadata ${datasette}`];
    return {
      document: { outcome, way, file, bytes, seq, report_date: reportDate, datasette },
      lines: [`${scope.company.name}: ${what}: ${file} (${formatSize(bytes)})`, ...more],
    };
  });
