import path from "node:path";
import { MirrorError } from "../../base/errors.ts";
import { formatSize } from "../../base/units.ts";
import type { CommandContext } from "../program/command.ts";
import type { CommandOptions, CommandRun } from "../program/command-table.ts";
import { forEachCompany } from "../runs/each-company.ts";
import { exportCompany, type CompanyExport, type CompanyExported } from "../runs/export-company.ts";

/** Exports tables or views of each company. */
export const exportCommand: CommandRun<"export"> = (context, { args, options, loaded: { config } }) =>
  forEachCompany(context, config, async (scope) => {
    const exported = await exportCompany(scope, requestOf(context, args, options));
    return { document: documentOf(exported), lines: linesOf(exported, scope.company.name) };
  });

function requestOf(
  { cwd }: CommandContext,
  tables: readonly string[],
  { out, to, partitionBy, since, ...options }: CommandOptions<"export">,
): CompanyExport {
  const { format, dialect, nested } = options;
  if (nested && format !== "parquet") throw new MirrorError("usage", "--nested needs --format parquet");
  if (nested && since !== undefined)
    throw new MirrorError("usage", "--nested and --since exclude each other");
  if (dialect !== "standard" && format !== "csv")
    throw new MirrorError("usage", "--dialect needs --format csv");
  const partition = partitionBy === "none" ? null : partitionBy;
  const folder = out ?? (to === undefined ? "export" : null);
  const place = { to: to ?? null, out: folder === null ? null : path.resolve(cwd, folder) };
  return { ...options, ...place, tables, partition, since: since ?? null };
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
