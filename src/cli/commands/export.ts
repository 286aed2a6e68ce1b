import path from "node:path";
import { MirrorError } from "../../base/errors.ts";
import { formatSize } from "../../base/units.ts";
import type { CommandContext } from "../program/command.ts";
import { forEachCompany } from "../runs/each-company.ts";
import { exportCompany, type CompanyExport, type CompanyExported } from "../runs/export-company.ts";
import type { CommandOptions, CommandRun } from "../program/command-table.ts";

export const exportCommand: CommandRun<"export"> = (context, { args, options, loaded: { config } }) =>
  forEachCompany(context, config, async (company) => {
    const exported = await exportCompany(context, config, requestOf(context, company, args, options));
    await print(context, company, exported);
    return resultOf(exported);
  });

function requestOf(
  { cwd }: CommandContext,
  company: string,
  tables: readonly string[],
  { format, out, to, dialect, partitionBy, since, nested }: CommandOptions<"export">,
): CompanyExport {
  if (nested && format !== "parquet") throw new MirrorError("usage", "--nested needs --format parquet");
  if (nested && since !== undefined)
    throw new MirrorError("usage", "--nested and --since exclude each other");
  if (dialect !== "standard" && format !== "csv")
    throw new MirrorError("usage", "--dialect needs --format csv");
  const partition = partitionBy === "none" ? null : partitionBy;
  const folder = out ?? (to === undefined ? "export" : null);
  return {
    company,
    tables,
    format,
    dialect,
    partition,
    nested,
    since: since ?? null,
    out: folder === null ? null : path.resolve(cwd, folder),
    to: to ?? null,
  };
}

function resultOf({ manifest, path: file, files, removed, uploaded }: CompanyExported): object {
  const { seq, next_since, since, run } = manifest;
  const written = manifest.files.filter((each) => each.seq === seq);
  const sum = (of: (each: (typeof written)[number]) => number) =>
    written.reduce((total, each) => total + of(each), 0);
  return {
    outcome: "complete",
    manifest: file,
    seq,
    next_since,
    since,
    run,
    rows: sum(({ rows }) => rows),
    bytes: sum(({ bytes }) => bytes),
    files,
    removed,
    uploaded,
  };
}

async function print(
  { output, globals }: CommandContext,
  company: string,
  { manifest, path: file, files, uploaded }: CompanyExported,
): Promise<void> {
  if (globals.json) return;
  const size = formatSize(manifest.files.reduce((sum, { bytes }) => sum + bytes, 0));
  await output.line(`${company}: ${files.length} files written, ${size}: ${path.dirname(file)}`);
  if (uploaded) {
    const { written, unchanged, removed } = uploaded;
    await output.line(
      `  ${written.length} objects sent, ${unchanged.length} were there already, ${removed.length} removed`,
    );
  }
  if (manifest.since !== null) await output.line(`  next time: --since ${manifest.next_since}`);
}
