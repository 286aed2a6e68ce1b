import { existsSync } from "node:fs";
import { writeFileAtomically } from "../../base/atomic-file.ts";
import { datasetteMetadata } from "../../report/datasette.ts";
import type { PublishStep } from "../../report/build-report.ts";
import { publishReport, type Published } from "../../report/publish-report.ts";
import { reportStep } from "../../status/after-run-record.ts";
import type { CompanyScope } from "../mirror/company-scope.ts";
import { selectResources } from "../mirror/selected-resources.ts";
import { recorded } from "./recorded-step.ts";
import { warnIfIncomplete } from "./warn-incomplete.ts";

/** What was published; `datasette` is the file with what Datasette shows about it, if that was asked for. */
export type CompanyPublished = Published & { readonly datasette: string | null };

/** Publishes one company as its config says; on a terminal one line shows the progress. */
export async function publishCompany(
  scope: CompanyScope,
  { force = false, datasette = false } = {},
): Promise<CompanyPublished> {
  const { context, manifest, config, files } = scope;
  const { name: company } = scope.company;
  const { clock, version, signal } = context;
  const { mirror, report } = files;
  const { timezone } = config.schedule;
  const { mode, redact } = config.report;
  let step: PublishStep | null = null;
  const onStep = (reached: PublishStep) => (step = reached);
  const line = () => (step ? [`${company}: publishing ${step.table}, ${step.rows} rows written`] : []);
  const places = { mirror, report, mode };
  const parts = { manifest, clock, version, signal, company, ...places, timezone, redact, force, onStep };
  const published = await recorded(
    scope,
    reportStep,
    () => context.showing(line, () => publishReport(parts)),
    ({ outcome, seq }) => ({ unchanged: outcome === "unchanged", seq }),
  );
  warnIfIncomplete(scope, published.completeness);
  const file = published.file.replace(/\.db$/, ".metadata.json");
  // It says when the report is from and what is missing: where there is one, it follows the report.
  if (!datasette && !existsSync(file)) return { ...published, datasette: null };
  const expected = new Set(selectResources(manifest, config.resources, []).map(({ name }) => name));
  const metadata = datasetteMetadata(manifest, published.file, { company, expected });
  writeFileAtomically(file, `${JSON.stringify(metadata, null, 2)}\n`, mode ?? undefined);
  return { ...published, datasette: file };
}
