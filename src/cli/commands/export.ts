import path from "node:path";
import { MirrorError } from "../../base/errors.ts";
import { formatSize } from "../../base/units.ts";
import { chosenCompanies } from "../../config/companies.ts";
import type { CommandContext } from "../program/command.ts";
import type { CommandOptions, CommandRun } from "./command-table.ts";
import { worstOutcome, type Outcome } from "../program/exit-code.ts";
import { exportCompany, type CompanyExport, type CompanyExported } from "../runs/export-company.ts";
import { failureOf } from "../console/failure-text.ts";

export const exportCommand: CommandRun<"export"> = async (
  context,
  { args, options: given, loaded: { config } },
) => {
  const companies = chosenCompanies(config, context.globals.company);
  const results: Record<string, object> = {};
  const outcomes: Outcome[] = [];
  for (const { name } of companies) {
    try {
      const exported = await exportCompany(context, config, requestOf(context, name, args, given));
      results[name] = resultOf(exported);
      await tell(context, name, exported);
    } catch (error) {
      if (companies.length === 1 || context.signal.aborted || isUsage(error)) throw error;
      outcomes.push("database");
      const { kind, message, hint } = failureOf(error);
      results[name] = { outcome: "failed", error: { kind, message, hint } };
      context.log.error(`${name}: ${message}`, { kind, hint: hint ?? undefined });
    }
  }
  if (context.globals.json) await context.output.json({ companies: results });
  return worstOutcome(outcomes);
};

function isUsage(error: unknown): boolean {
  return error instanceof MirrorError && error.kind === "usage";
}

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

async function tell(
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
