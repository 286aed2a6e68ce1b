import path from "node:path";
import { isCalendarDay } from "../../base/clock.ts";
import { MirrorError } from "../../base/errors.ts";
import { formatSize } from "../../base/units.ts";
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
  const { format, dialect, nested } = options;
  if (nested && format !== "parquet") throw new MirrorError("usage", "--nested needs --format parquet");
  if (nested && since !== undefined)
    throw new MirrorError("usage", "--nested and --since exclude each other");
  if (dialect !== "standard" && format !== "csv")
    throw new MirrorError("usage", "--dialect needs --format csv");
  const period = periodOf(month, from, to.filter(isCalendarDay));
  if (period !== null && since !== undefined)
    throw new MirrorError("usage", "--since and --month, --from or --to with a day exclude each other");
  const [place = null, ...more] = to.filter((text) => !isCalendarDay(text));
  if (more.length > 0) throw new MirrorError("usage", "--to takes one place and one day");
  const partition = partitionBy === "none" ? null : partitionBy;
  const folder = out ?? (place === null ? "export" : null);
  const places = { to: place, out: folder === null ? null : path.resolve(cwd, folder) };
  return { ...options, ...places, tables, partition, period, since: since ?? null };
}

function periodOf(month: string | undefined, from: string | undefined, to: readonly string[]): Period | null {
  const [until = null, ...more] = to;
  if (more.length > 0) throw new MirrorError("usage", "--to takes one place and one day");
  if (month === undefined)
    return from === undefined && until === null ? null : { from: from ?? null, to: until };
  if (from !== undefined || until !== null)
    throw new MirrorError("usage", "--month excludes --from and --to with a day");
  return periodOfMonth(month);
}

function documentOf({ manifest, path: file, files, removed, uploaded }: CompanyExported): object {
  const { seq, next_since, since, run } = manifest;
  const written = manifest.files.filter((each) => each.seq === seq);
  const sum = (key: "rows" | "bytes") => written.reduce((total, each) => total + each[key], 0);
  const state = { seq, next_since, since, run, rows: sum("rows"), bytes: sum("bytes") };
  return { outcome: "complete", manifest: file, ...state, files, removed, uploaded };
}

function linesOf({ manifest, path: file, files, uploaded }: CompanyExported, company: string): string[] {
  const size = formatSize(manifest.files.reduce((sum, { bytes }) => sum + bytes, 0));
  const lines = [`${company}: ${files.length} files written, ${size}: ${path.dirname(file)}`];
  if (uploaded) {
    const { written, unchanged, removed } = uploaded;
    lines.push(
      `  ${written.length} objects sent, ${unchanged.length} were there already, ${removed.length} removed`,
    );
  }
  if (manifest.since !== null) lines.push(`  next time: --since ${manifest.next_since}`);
  return lines;
}
