import path from "node:path";
import { isCalendarDay } from "../../base/clock.ts";
import { MirrorError } from "../../base/errors.ts";
import { formatSize } from "../../base/units.ts";
import { unobeyed } from "../../config/export-section.ts";
import type { ManifestFile } from "../../export/files/export-manifest.ts";
import { belowOut } from "../../export/files/file-layout.ts";
import { periodOfMonth, type Period } from "../../export/plan/period.ts";
import type { CommandContext } from "../program/command.ts";
import type { CommandOptions, CommandRun } from "../program/command-table.ts";
import { forEachCompany } from "../runs/each-company.ts";
import { exportCompany, type CompanyExport, type CompanyExported } from "../runs/export-company.ts";

/** Exports tables or views of each company. */
export const exportCommand: CommandRun<"export"> = (context, { args, options, loaded: { config } }) =>
  forEachCompany(
    context,
    config,
    async (scope) => {
      const exported = await exportCompany(scope, requestOf(context, args, options));
      return { document: documentOf(exported), lines: linesOf(exported, scope.company.name) };
    },
    { isPartial: true },
  );

function requestOf(
  { cwd }: CommandContext,
  tables: readonly string[],
  { out, to, partitionBy, since, from, month, ...options }: CommandOptions<"export">,
): CompanyExport {
  const partition = partitionBy === "none" ? null : partitionBy;
  const [refused] = unobeyed(options.format, { ...options, partition_by: partition, since });
  if (refused)
    throw new MirrorError("usage", `--${refused[0].replace("_", "-")} needs --format ${refused[1]}`);
  if (options.nested && since !== undefined)
    throw new MirrorError("usage", "--nested and --since exclude each other");
  const period = periodOf(month, from, to.filter(isCalendarDay));
  if (period !== null && since !== undefined)
    throw new MirrorError("usage", "--since and --month, --from or --to with a day exclude each other");
  const [place = null, ...more] = to.filter((text) => !isCalendarDay(text));
  if (more.length > 0) throw new MirrorError("usage", "--to takes one place and one day");
  const folder = out ?? (place === null ? "export" : null);
  const places = { to: place, out: folder === null ? null : path.resolve(cwd, folder) };
  return { ...options, ...places, tables, partition, period, since: since ?? null };
}

function periodOf(month: string | undefined, from: string | undefined, to: readonly string[]): Period | null {
  const [until = null, ...more] = to;
  if (more.length > 0) throw new MirrorError("usage", "--to takes one place and one day");
  if (from !== undefined && until !== null && from > until)
    throw new MirrorError("usage", `--from ${from} is after --to ${until}: no row can be of that time`, {
      hint: "Give the earlier day to --from.",
    });
  if (month === undefined)
    return from === undefined && until === null ? null : { from: from ?? null, to: until };
  if (from !== undefined || until !== null)
    throw new MirrorError("usage", "--month cannot be combined with --from or --to", {
      hint: "A month is all of its days: leave out one of the two.",
    });
  return periodOfMonth(month);
}

function documentOf(exported: CompanyExported): object {
  const { manifest, path: file, files, removed, uploaded } = exported;
  const { log, seq, next_since, since, run } = manifest;
  const written = writtenOf(exported);
  const rows = written.reduce((sum, each) => sum + each.rows, 0);
  const state = { log, seq, next_since, since, run, rows, bytes: sizeOf(written) };
  return { outcome: "complete", manifest: file, ...state, files, removed, uploaded };
}

function linesOf(exported: CompanyExported, company: string): string[] {
  const { manifest, path: file, files, uploaded } = exported;
  const size = formatSize(sizeOf(writtenOf(exported)));
  const lines = [`${company}: ${files.length} files written, ${size}: ${path.dirname(file)}`];
  if (uploaded) {
    const { written, unchanged, removed } = uploaded;
    lines.push(
      `  ${written.length} objects sent, ${unchanged.length} were there already, ${removed.length} removed`,
    );
  }
  if (manifest.since !== null) lines.push(`  next time: --since ${manifest.log}:${manifest.next_since}`);
  return lines;
}

/** What the manifest says of the files of this export; it names earlier ones, too. */
function writtenOf({ manifest: { company, files }, files: written }: CompanyExported): ManifestFile[] {
  return files.filter(({ file }) => written.includes(belowOut(company, file)));
}

/** A workbook is one file of several tables. */
function sizeOf(files: readonly ManifestFile[]): number {
  const sizes = new Map(files.map(({ file, bytes }) => [file, bytes]));
  return [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0);
}
