import path from "node:path";
import { localDate } from "../../base/clock.ts";
import { someOf } from "../../base/names.ts";
import { exportTables, type ExportResult } from "../../export/export-tables.ts";
import type { ExportParts, ExportRequest } from "../../export/plan/export-request.ts";
import { uploadExport, type Uploaded } from "../../export/upload-export.ts";
import { ownRight } from "../../file-store/file-store.ts";
import { openObjectStore } from "../../file-store/open-store.ts";
import { readTarget } from "../../file-store/s3-address.ts";
import type { CompanyScope } from "../mirror/company-scope.ts";
import { withScratchFolder } from "../mirror/scratch-folder.ts";
import { warnIfIncomplete } from "./warn-incomplete.ts";

/** What to export of a company, and where to. */
export interface CompanyExport extends Omit<ExportRequest, "out" | "company"> {
  /** A folder; null: the files are only made to be sent. */
  readonly out: string | null;
  /** `s3://bucket/prefix`; null: the files are not sent. */
  readonly to: string | null;
}

/** What an export did; `uploaded` is null when nothing was to be sent. */
export type CompanyExported = ExportResult & { readonly uploaded: Uploaded | null };

/**
 * Exports one company and sends the files where `to` says; on a terminal one line shows the progress.
 * @throws MirrorError `usage` before a file is made when `to` or its access keys cannot be used
 */
export async function exportCompany(
  scope: CompanyScope,
  { out, to, ...asked }: CompanyExport,
): Promise<CompanyExported> {
  if (out === null)
    return withScratchFolder(scope, "upload", (folder) =>
      exportCompany(scope, { ...asked, to, out: folder }),
    );
  const { context, manifest, config, files } = scope;
  const { name: company } = scope.company;
  const { clock, version, signal } = context;
  const store = to === null ? null : openObjectStore(to, context);
  const request: ExportRequest = { ...asked, company, out };
  let line: string | null = null;
  const onProgress: ExportParts["onProgress"] = ({ table, rows, done, of }) =>
    (line = `${company}: ${asked.format}, table ${done + 1} of ${of}: ${table}, ${rows} rows`);
  const onFile = (file: string, done: number, of: number) =>
    (line = `${company}: sending file ${done + 1} of ${of}: ${file}`);
  const makeFiles = async () => {
    const reportDate = localDate(clock.nowMs(), config.schedule.timezone);
    const { redact } = config.report;
    const parts = { mirror: files.mirror, manifest, clock, version, reportDate, redact, signal, onProgress };
    const exported = await exportTables(parts, request);
    const uploaded =
      store && (await uploadExport(store, request, exported.manifest, ownRight(signal), onFile));
    return { ...exported, uploaded: uploaded && belowPrefix(uploaded, to ?? "") };
  };
  const exported = await context.showing(() => (line === null ? [] : [line]), makeFiles);
  warnIfIncomplete(scope, exported.completeness);
  if (exported.undated.length > 0)
    context.log.info(`${company}: tables without a date are exported whole: ${someOf(exported.undated, 5)}`);
  if (exported.otherwiseRedacted.length > 0)
    context.log.warn(
      `${company}: files of earlier exports do not follow report.redact: ${someOf(exported.otherwiseRedacted, 5)}`,
      { hint: "Remove them, or export them again." },
    );
  return exported;
}

/** Keys as they are in the bucket. */
function belowPrefix({ written, unchanged, removed }: Uploaded, to: string): Uploaded {
  const { prefix } = readTarget(to);
  const keys = (names: readonly string[]) => names.map((name) => path.posix.join(prefix, name));
  return { written: keys(written), unchanged: keys(unchanged), removed: keys(removed) };
}
