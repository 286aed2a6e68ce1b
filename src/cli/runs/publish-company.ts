import { writeFileAtomically } from "../../base/atomic-file.ts";
import type { Config } from "../../config/config.ts";
import { mirrorFiles } from "../../config/mirror-files.ts";
import { datasetteMetadata } from "../../report/datasette.ts";
import { publishReport, type Published } from "../../report/publish-report.ts";
import type { PublishStep } from "../../report/publish-draft.ts";
import type { CommandContext } from "../program/command.ts";

type Parts = Pick<CommandContext, "connectors" | "clock" | "version" | "signal">;

/** Publishes one company as its config says; on a terminal one line shows the progress. */
export async function publishCompany(
  context: Parts & Pick<CommandContext, "showing">,
  config: Config,
  company: string,
  { force = false, datasette = false } = {},
): Promise<Published & { readonly datasette: string | null }> {
  let step: PublishStep | null = null;
  const line = () => (step ? [`${company}: publishing ${step.table}, ${step.rows} rows written`] : []);
  const published = await context.showing(line, () =>
    publishReport({
      ...partsOf(context, config, company),
      force,
      onStep: (reached) => (step = reached),
    }),
  );
  return { ...published, datasette: datasette ? writeMetadata(context, published.file, company) : null };
}

function partsOf({ connectors, clock, version, signal }: Parts, config: Config, company: string) {
  const { mirror, report } = mirrorFiles(config, company);
  const { timezone } = config.schedule;
  return { manifest: connectors[0].manifest, clock, version, signal, company, mirror, report, timezone };
}

/** Writes what Datasette shows into a file beside the report. */
function writeMetadata({ connectors }: Parts, report: string, company: string): string {
  const file = report.replace(/\.db$/, ".metadata.json");
  const metadata = datasetteMetadata(connectors[0].manifest, report, company);
  writeFileAtomically(file, `${JSON.stringify(metadata, null, 2)}\n`);
  return file;
}
