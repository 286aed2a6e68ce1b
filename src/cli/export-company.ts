import { localDate } from "../base/local-date.ts";
import type { Config, ExportConfig } from "../config/config.ts";
import { mirrorFiles } from "../config/mirror-files.ts";
import {
  exportTables,
  type ExportProgress,
  type ExportRequest,
  type ExportResult,
} from "../export/export-tables.ts";
import type { CommandContext } from "./command.ts";

type Parts = Pick<CommandContext, "connectors" | "clock" | "version" | "signal" | "showing">;

/** Exports one company; on a terminal one line shows how far it is. */
export async function exportCompany(
  { connectors, clock, version, signal, showing }: Parts,
  config: Config,
  request: ExportRequest,
): Promise<ExportResult> {
  let reached: ExportProgress | null = null;
  const { company, format } = request;
  const line = () => (reached ? [lineOf(company, format, reached)] : []);
  return showing(line, () =>
    exportTables(
      {
        mirror: mirrorFiles(config, company).mirror,
        manifest: connectors[0].manifest,
        clock,
        version,
        reportDate: localDate(clock.nowMs(), config.schedule.timezone),
        signal,
        onProgress: (progress) => (reached = progress),
      },
      request,
    ),
  );
}

function lineOf(company: string, format: string, { table, rows, done, of }: ExportProgress): string {
  return `${company}: ${format}, table ${done + 1} of ${of}: ${table}, ${rows} rows`;
}

/** What the config's `exports` ask for. */
export function requestOf(
  { format, out, dialect, tables, partitionBy, nested }: ExportConfig,
  company: string,
): ExportRequest {
  return { format, out, company, dialect, tables: tables ?? [], partition: partitionBy, since: null, nested };
}
