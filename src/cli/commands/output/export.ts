import path from "node:path";
import { isCalendarDay, localDate } from "../../../base/clock.ts";
import { MirrorError } from "../../../base/errors.ts";
import { someOf } from "../../../base/names.ts";
import { counted, formatSize } from "../../../base/units.ts";
import { namesReadBy } from "../../../connector/report-view.ts";
import { sourcesOf } from "../../../connector/resource.ts";
import { unobeyed } from "../../../connector/export-choices.ts";
import { exportTables, type ExportResult } from "../../../export/export-tables.ts";
import type { ExportParts, ExportRequest, ExportWatch } from "../../../export/plan/export-request.ts";
import { periodOfMonth, type Period } from "../../../export/plan/period.ts";
import { uploadExport, type Uploaded } from "../../../export/upload-export.ts";
import { ownRight } from "../../../file-store/file-store.ts";
import { openObjectStore, readTarget } from "../../../file-store/s3-store.ts";
import type { AskedMoment } from "../../../base/ids.ts";
import type { ShowLine } from "../../../log/progress.ts";
import { withHistory, withMoment, withScratchFolder } from "../../mirror/as-of.ts";
import { warnIfIncomplete, type CompanyScope } from "../../mirror/company-scope.ts";
import type { CommandContext } from "../../program/command.ts";
import type { CommandOptions, CommandRun } from "../../program/command-table.ts";
import { forEachCompany, type CompanyResult } from "../../runs/each-company.ts";

interface CompanyExport extends Omit<ExportRequest, "out" | "company"> {
  /** A folder; null: the files are only made to be sent. */
  readonly out: string | null;
  /** `s3://bucket/prefix`; null: the files are not sent. */
  readonly to: string | null;
  /** The files are of this moment. @default they are of now */
  readonly asOf?: AskedMoment | undefined;
}

export const exportCommand: CommandRun<"export"> = (context, { args, options, config }) =>
  forEachCompany(context, config, async (scope) => exportCompany(scope, requestOf(context, args, options)), {
    isPartial: true,
  });

function requestOf(
  { cwd }: CommandContext,
  tables: readonly string[],
  { out, to, partitionBy, since, from, month, ...options }: CommandOptions<"export">,
): CompanyExport {
  const partition = partitionBy === "none" ? null : partitionBy;
  const [refused] = unobeyed(options.format, { ...options, partition_by: partition, since });
  if (refused)
    throw new MirrorError("usage", `--${refused[0].replace("_", "-")} needs --format ${refused[1]}`);
  const [until = null, ...moreDays] = to.filter(isCalendarDay);
  const [place = null, ...morePlaces] = to.filter((text) => !isCalendarDay(text));
  if (moreDays.length + morePlaces.length > 0)
    throw new MirrorError("usage", "--to takes one place and one day");
  const isWhole = options.history || month !== undefined || since !== undefined;
  if (until !== null && isWhole)
    throw new MirrorError("usage", "--to with a day cannot be used with --month, --since or --history");
  const period = month === undefined ? periodOf(from ?? null, until) : periodOfMonth(month);
  // Files of an earlier moment do not replace those of now.
  const usual = options.asOf ? "export-as-of" : "export";
  const folder = out ?? (place === null ? usual : null);
  const places = { to: place, out: folder === null ? null : path.resolve(cwd, folder) };
  return { ...options, ...places, tables, partition, period, since: since ?? null };
}

function periodOf(from: string | null, until: string | null): Period | null {
  if (from !== null && until !== null && from > until)
    throw new MirrorError("usage", `--from ${from} is after --to ${until}: no row can be of that time`, {
      hint: "Give the earlier day to --from.",
    });
  return from === null && until === null ? null : { from, to: until };
}

/** Exports one company and sends the files where `to` says. Throws `usage` before a file is made when that cannot be used. */
export async function exportCompany(scope: CompanyScope, { asOf, ...asked }: CompanyExport) {
  if (asked.history) return withHistory(scope, (all) => exportScope(all, asked));
  return withMoment(scope, asOf, (then) => exportScope(then, asked));
}

async function exportScope(
  scope: CompanyScope,
  { out, to, ...asked }: Omit<CompanyExport, "asOf">,
  /** Where the files are found. */
  root = out,
): Promise<CompanyResult> {
  if (out === null)
    return withScratchFolder(scope, "upload", (folder) =>
      exportScope(scope, { ...asked, to, out: folder }, to?.replace(/\/$/, "")),
    );
  const { context, config, moment } = scope;
  const { name: company } = scope.company;
  const { clock, signal } = context;
  const store = to === null ? null : openObjectStore(to, context);
  const request: ExportRequest = { ...asked, company, out };
  const makeFiles = async (show: ShowLine) => {
    const onProgress: ExportWatch["onProgress"] = (table, rows, done, of) =>
      show(() => `${company}: ${asked.format}, table ${done + 1} of ${of}: ${table}, ${rows} rows`);
    const onFile = (file: string, done: number, of: number) =>
      show(() => `${company}: sending file ${done + 1} of ${of}: ${file}`);
    const ofMs = moment ? Date.parse(moment.at) : clock.nowMs();
    const reportDate = localDate(ofMs, config.schedule.timezone);
    const exported = await exportTables(exportParts(scope, reportDate), request, { onProgress });
    const uploaded = store && (await uploadExport(store, out, exported, ownRight(signal), onFile));
    return { exported, uploaded: uploaded && belowPrefix(uploaded, to ?? "") };
  };
  const { exported, uploaded } = await context.showing(makeFiles);
  const { undated, otherwiseRedacted } = exported;
  warnIfIncomplete(scope, exported.completeness);
  const { resources, views = [] } = scope.declaration;
  const shown = views.filter(({ name }) => asked.tables.includes(name));
  const read = new Set([...asked.tables, ...shown.flatMap((view) => namesReadBy(view, views))]);
  const needed = resources.flatMap((one) => (read.has(one.name) ? [one.name, ...sourcesOf(one)] : []));
  const leftOut = [...new Set(needed)].filter((name) => !scope.resources.some((one) => one.name === name));
  if (leftOut.length > 0)
    context.log.warn(`${company}: resources leaves out what the files are made of: ${someOf(leftOut, 5)}`, {
      hint: "The files show what was read before it was left out, if anything; sums of views may be wrong.",
    });
  if (undated.length > 0)
    context.log.info(`${company}: tables without a date are exported whole: ${someOf(undated, 5)}`);
  if (otherwiseRedacted.length > 0)
    context.log.warn(
      `${company}: files of earlier exports do not follow report.redact: ${someOf(otherwiseRedacted, 5)}`,
      { hint: "Remove them, or export them again." },
    );
  const place = `${root}/${path.relative(out, exported.path)}`;
  return resultOf(company, { ...exported, path: place }, uploaded);
}

export function exportParts(
  { context: { clock, version, signal }, declaration, config, files: { mirror }, moment }: CompanyScope,
  reportDate: string,
): ExportParts {
  const { redact } = config.report;
  return { mirror, declaration, clock, version, reportDate, redact, moment: moment ?? null, signal };
}

function belowPrefix({ written, unchanged, removed }: Uploaded, to: string): Uploaded {
  const { prefix } = readTarget(to);
  const keys = (names: readonly string[]) => names.map((name) => path.posix.join(prefix, name));
  return { written: keys(written), unchanged: keys(unchanged), removed: keys(removed) };
}

function resultOf(
  company: string,
  { manifest, path: file, files, written, removed, unchanged }: ExportResult,
  uploaded: Uploaded | null,
): CompanyResult {
  const { log, seq, next_since, since, run } = manifest;
  const rows = written.reduce((sum, each) => sum + each.rows, 0);
  // A workbook is one file of several tables.
  const sizes = new Map(written.map((one) => [one.file, one.bytes]));
  const bytes = [...sizes.values()].reduce((sum, each) => sum + each, 0);
  const folder = path.dirname(file);
  const lines = [`${company}: ${counted(files.length, "file")} written, ${formatSize(bytes)}: ${folder}`];
  if (uploaded) {
    const [sent, there, gone] = [uploaded.written, uploaded.unchanged, uploaded.removed];
    lines.push(`  ${sent.length} objects sent, ${there.length} were there already, ${gone.length} removed`);
  }
  if (since !== null) lines.push(`  next time: --since ${log}:${next_since}`);
  const state = { log, seq, next_since, since, run, rows, bytes };
  const document = { outcome: "complete", manifest: file, ...state, files, removed, uploaded };
  return { isUnchanged: unchanged, seq, document, lines };
}
