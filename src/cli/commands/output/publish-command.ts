import { existsSync } from "node:fs";
import { writeFileAtomically } from "../../../base/files/atomic-file.ts";
import { MirrorError } from "../../../base/errors.ts";
import { formatSize } from "../../../base/units.ts";
import type { Config } from "../../../config/config.ts";
import { combinedName, mirrorFiles } from "../../../store/mirror-files.ts";
import { combineReports } from "../../../report/combine-reports.ts";
import { datasetteMetadata } from "../../../report/datasette.ts";
import { publishReport } from "../../../report/publish-report.ts";
import { reportStep } from "../../../status/after-run-record.ts";
import { momentName, withMoment } from "../../mirror/as-of.ts";
import { companyScopes, warnIfIncomplete, type CompanyScope } from "../../mirror/company-scope.ts";
import type { CommandContext } from "../../program/command.ts";
import type { CommandOptions, CommandRun } from "../../program/command-table.ts";
import { forEachCompany, recorded, type CompanyResult } from "../../runs/each-company.ts";

export const publishCommand: CommandRun<"publish"> = (context, { options, config }) => {
  const { combined, force } = options;
  if (combined) assertNameIsFree(config);
  return forEachCompany(context, config, (scope) => publishCompany(scope, options), {
    isPartial: true,
    ...(combined && { finish: (done) => combine(context, config, done, force) }),
  });
};

/** Publishes one company as its config says; on a terminal one line shows the progress. */
export function publishCompany(scope: CompanyScope, request: Partial<CommandOptions<"publish">> = {}) {
  const { asOf } = request;
  if (asOf) return withMoment(scope, asOf, (then) => publishScope(then, request));
  return recorded(scope, reportStep, () => publishScope(scope, request));
}

async function publishScope(
  scope: CompanyScope,
  { force = false, datasette = false, asOf }: Partial<CommandOptions<"publish">>,
): Promise<CompanyResult> {
  const { context, declaration, config, files, moment = null } = scope;
  const { name: company } = scope.company;
  const { clock, version, signal } = context;
  const { timezone } = config.schedule;
  const { mode, redact } = config.report;
  const of = asOf && moment ? `.${momentName(asOf, moment, timezone)}` : "";
  const report = files.report.replace(/\.db$/, `${of}.db`);
  const about = { company, timezone, version, clock, redact, moment };
  const made = await context.showing((show) => {
    const onStep = (table: string, rows: number) =>
      show(() => `${company}: publishing ${table}, ${rows} rows written`);
    return publishReport(files.mirror, report, declaration, about, { mode, force, signal, onStep });
  });
  warnIfIncomplete(scope, made.completeness);
  const { outcome, way, file, bytes, seq, reportDate } = made;
  const shown = writeMetadata(scope, file, datasette);
  const facts = { outcome, way, file, bytes, seq, report_date: reportDate, datasette: shown };
  return {
    isUnchanged: outcome === "unchanged",
    seq,
    document: { ...facts, ...(moment && { as_of: moment.at }) },
    lines: [
      lineOf(company, made),
      ...(shown === null ? [] : [`  datasette --immutable ${forShell(file)} --metadata ${forShell(shown)}`]),
    ],
  };
}

function lineOf(
  name: string,
  made: { readonly outcome: string; readonly file: string; readonly bytes: number },
) {
  const what = made.outcome === "written" ? "report written" : "nothing changed since the last report";
  return `${name}: ${what}: ${made.file} (${formatSize(made.bytes)})`;
}

/** A path as a word of a shell's line. */
const forShell = (file: string) => (/^[\w./-]+$/.test(file) ? file : `'${file.replaceAll("'", `'\\''`)}'`);

/** What Datasette shows about a report says when it is from and what is missing: where there is one, it follows the report. */
function writeMetadata(
  { declaration, config, company: { name: company }, resources }: CompanyScope,
  report: string,
  isAsked: boolean,
): string | null {
  const file = report.replace(/\.db$/, ".metadata.json");
  if (!isAsked && !existsSync(file)) return null;
  const expected = new Set(resources.map(({ name }) => name));
  const metadata = datasetteMetadata(declaration, report, { company, expected });
  writeFileAtomically(file, `${JSON.stringify(metadata, null, 2)}\n`, config.report.mode ?? undefined);
  return file;
}

function assertNameIsFree({ companies }: Config): void {
  const taken = companies.find(({ name }) => name.toLowerCase() === combinedName);
  if (!taken) return;
  throw new MirrorError("usage", `the combined report would replace the report of company ${taken.name}`, {
    hint: "Give the company another name in the config.",
  });
}

async function combine(context: CommandContext, config: Config, done: readonly string[], force: boolean) {
  if (done.length === 0) return null;
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
