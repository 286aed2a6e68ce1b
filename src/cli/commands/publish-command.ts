import { MirrorError } from "../../base/errors.ts";
import { formatSize } from "../../base/units.ts";
import type { Config } from "../../config/config.ts";
import { combinedName, mirrorFiles } from "../../config/mirror-files.ts";
import { combineReports } from "../../report/combine-reports.ts";
import { companyScopes } from "../mirror/company-scope.ts";
import type { CommandContext } from "../program/command.ts";
import type { CommandRun } from "../program/command-table.ts";
import { forEachCompany } from "../runs/each-company.ts";
import { publishCompany } from "../runs/publish-company.ts";

/** Publishes the report of each company, and with `--combined` one over all of them. */
export const publishCommand: CommandRun<"publish"> = (context, { options, loaded: { config } }) => {
  const { combined, force, ...same } = options;
  if (combined) assertNameIsFree(config);
  return forEachCompany(
    context,
    config,
    async (scope) => {
      const published = await publishCompany(scope, { ...same, force });
      const { outcome, way, file, bytes, seq, reportDate, datasette } = published;
      const more = datasette === null ? [] : [`  datasette --immutable ${file} --metadata ${datasette}`];
      return {
        document: { outcome, way, file, bytes, seq, report_date: reportDate, datasette },
        lines: [lineOf(scope.company.name, published), ...more],
      };
    },
    { isPartial: true, ...(combined && { finish: (done) => combine(context, config, { done, force }) }) },
  );
};

function lineOf(
  name: string,
  made: { readonly outcome: string; readonly file: string; readonly bytes: number },
) {
  const what = made.outcome === "written" ? "report written" : "nothing changed since the last report";
  return `${name}: ${what}: ${made.file} (${formatSize(made.bytes)})`;
}

function assertNameIsFree({ companies }: Config): void {
  const taken = companies.find(({ name }) => name.toLowerCase() === combinedName);
  if (!taken) return;
  throw new MirrorError("usage", `the combined report would replace the report of company ${taken.name}`, {
    hint: "Give the company another name in the config.",
  });
}

/** Combines the reports of the companies that were published. */
async function combine(
  context: CommandContext,
  config: Config,
  { done, force }: { readonly done: readonly string[]; readonly force: boolean },
) {
  const names = companyScopes(context, config).map(({ company }) => company.name);
  const missing = names.filter((name) => !done.includes(name));
  const made = await combineReports({
    reports: done.map((company) => ({ company, file: mirrorFiles(config, company).report })),
    missing,
    combined: mirrorFiles(config, combinedName).combinedReport,
    mode: config.report.mode,
    force,
    signal: context.signal,
  });
  if (missing.length > 0)
    context.log.warn(`${combinedName}: the report lacks companies that failed: ${missing.join(", ")}`);
  const { outcome, file, bytes } = made;
  return {
    document: { combined: { outcome, file, bytes, companies: done, missing } },
    lines: [lineOf(combinedName, made)],
  };
}
