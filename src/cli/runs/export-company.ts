import { rm } from "node:fs/promises";
import path from "node:path";
import { localDate } from "../../base/clock.ts";
import type { Config } from "../../config/config.ts";
import { mirrorFiles } from "../../config/mirror-files.ts";
import { exportTables, type ExportResult } from "../../export/export-tables.ts";
import type { ExportRequest } from "../../export/plan/export-request.ts";
import { connectStore } from "../../export/s3/object-store.ts";
import { readAccess, readTarget } from "../../export/s3/target.ts";
import { uploadExport, type Uploaded } from "../../export/s3/upload.ts";
import type { CommandContext } from "../program/command.ts";

type Parts = Pick<
  CommandContext,
  "connectors" | "clock" | "version" | "signal" | "showing" | "env" | "keepSecret"
>;

export interface CompanyExport extends Omit<ExportRequest, "out"> {
  /** A folder; null: the files are only made to be sent. */
  readonly out: string | null;
  /** `s3://bucket/prefix` */
  readonly to: string | null;
}

export interface CompanyExported extends ExportResult {
  readonly uploaded: Uploaded | null;
}

/** Exports one company; on a terminal one line shows how far it is. */
export async function exportCompany(
  parts: Parts,
  config: Config,
  { out, to, ...asked }: CompanyExport,
): Promise<CompanyExported> {
  const sender = to === null ? null : senderTo(parts, to);
  const folder = out ?? path.join(config.dataDir, `.${asked.company}.upload`);
  if (out === null) await rm(folder, { recursive: true, force: true });
  const request: ExportRequest = { ...asked, out: folder };
  let line = "";
  const shown = () => (line === "" ? [] : [line]);
  try {
    return await parts.showing(shown, async () => {
      const exported = await exportTables(
        partsOf(parts, config, asked, (text) => (line = text)),
        request,
      );
      const uploaded = sender && (await sender(request, exported, (text) => (line = text)));
      return { ...exported, uploaded };
    });
  } finally {
    if (out === null) await rm(folder, { recursive: true, force: true });
  }
}

type Show = (line: string) => void;

function partsOf(
  { connectors, clock, version, signal }: Parts,
  config: Config,
  { company, format }: Pick<ExportRequest, "company" | "format">,
  show: Show,
) {
  return {
    mirror: mirrorFiles(config, company).mirror,
    manifest: connectors[0].manifest,
    clock,
    version,
    reportDate: localDate(clock.nowMs(), config.schedule.timezone),
    signal,
    onProgress: ({ table, rows, done, of }: { table: string; rows: number; done: number; of: number }) =>
      show(`${company}: ${format}, table ${done + 1} of ${of}: ${table}, ${rows} rows`),
  };
}

/** Refuses before anything is made what cannot be sent. */
function senderTo({ env, clock, signal, keepSecret }: Parts, to: string) {
  const target = readTarget(to);
  const access = readAccess(env, target);
  keepSecret([access.secretAccessKey]);
  return (request: ExportRequest, exported: ExportResult, show: Show) =>
    uploadExport(
      {
        store: connectStore(access),
        prefix: target.prefix,
        clock,
        signal,
        onFile: (file, done, of) => show(`${request.company}: sending file ${done + 1} of ${of}: ${file}`),
      },
      request,
      exported,
    );
}
