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

export interface CompanyExport extends Omit<ExportRequest, "out"> {
  /** A folder; null: the files are only made to be sent. */
  readonly out: string | null;
  /** `s3://bucket/prefix`; null: the files are not sent. */
  readonly to: string | null;
}

export interface CompanyExported extends ExportResult {
  readonly uploaded: Uploaded | null;
}

/**
 * Exports one company and sends the files where `to` says; on a terminal one line shows the progress.
 * @throws MirrorError `usage` before a file is made when `to` or its access keys cannot be used
 */
export async function exportCompany(
  context: CommandContext,
  config: Config,
  { out, to, ...asked }: CompanyExport,
): Promise<CompanyExported> {
  const { connectors, clock, version, signal } = context;
  const { company, format } = asked;
  const store = to === null ? null : openStore(context, to);
  const folder = out ?? path.join(config.dataDir, `.${company}.upload`);
  if (out === null) await rm(folder, { recursive: true, force: true });
  const request: ExportRequest = { ...asked, out: folder };
  let line: string | null = null;
  const makeFiles = async () => {
    const parts = {
      mirror: mirrorFiles(config, company).mirror,
      manifest: connectors[0].manifest,
      clock,
      version,
      reportDate: localDate(clock.nowMs(), config.schedule.timezone),
      signal,
      onProgress: ({ table, rows, done, of }: { table: string; rows: number; done: number; of: number }) =>
        (line = `${company}: ${format}, table ${done + 1} of ${of}: ${table}, ${rows} rows`),
    };
    const exported = await exportTables(parts, request);
    if (store === null) return { ...exported, uploaded: null };
    const onFile = (file: string, done: number, of: number) =>
      (line = `${company}: sending file ${done + 1} of ${of}: ${file}`);
    const uploaded = await uploadExport({ ...store, clock, signal, onFile }, request, exported);
    return { ...exported, uploaded };
  };
  try {
    return await context.showing(() => (line === null ? [] : [line]), makeFiles);
  } finally {
    if (out === null) await rm(folder, { recursive: true, force: true });
  }
}

function openStore({ env, keepSecret }: CommandContext, to: string) {
  const target = readTarget(to);
  const access = readAccess(env, target);
  keepSecret([access.secretAccessKey]);
  return { store: connectStore(access), prefix: target.prefix };
}
