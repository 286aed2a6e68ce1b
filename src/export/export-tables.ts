import { hash } from "node:crypto";
import path from "node:path";
import { isoTime } from "../base/clock.ts";
import type { Snapshot } from "../state/mirror-snapshot.ts";
import { seqAt } from "../state/log-identity.ts";
import { redactionsOf } from "../store/snapshot/redaction.ts";
import type { SnapshotTable } from "../store/snapshot/snapshot-tables.ts";
import {
  belowOut,
  fromManifest,
  keptFiles,
  manifestPath,
  readManifest,
  removedFiles,
  workbookPath,
} from "./files/export-manifest.ts";
import type { ExportManifest, ManifestFile } from "./files/export-manifest.ts";
import { hasContent, manifestText } from "../base/files/hashed-file.ts";
import { Staging } from "./files/staging.ts";
import { planTables, type TableExport } from "./plan/export-plan.ts";
import type { ExportParts, ExportRequest, ExportWatch } from "./plan/export-request.ts";
import { ThreadPool } from "./threads/thread-pool.ts";
import { writeWorkbook } from "./write-workbook.ts";
import { writeTable, type ExportContext } from "./write-table.ts";

export type ExportResult = Awaited<ReturnType<typeof commit>>;

/**
 * Exports tables and views of one company.
 *
 * Guarantee: all files are of one state of the mirror, and replace earlier ones only when all are complete.
 * Source of truth: the mirror. Worst outcome of a crash: see Staging.
 */
export async function exportTables(
  parts: ExportParts,
  request: ExportRequest,
  { onSnapshot, onProgress }: ExportWatch = {},
): Promise<ExportResult> {
  await using pool = await ThreadPool.open(parts);
  const { snapshot } = pool;
  onSnapshot?.(snapshot);
  const plans = planTables(snapshot, parts.declaration, request);
  if (request.since) seqAt(snapshot.db, request.since);
  const form = formOf(parts, request, snapshot.tables);
  await using staging = await Staging.open(request.out, request.company);
  const current = request.ifChanged ? await findCurrent(request, snapshot, plans, form) : null;
  if (current) return current;
  const context = { parts, request, pool, staging, form };
  return await commit(context, plans, await writeTables(context, plans, onProgress));
}

/**
 * Null unless the files there are those that this run would write, to the byte. What a view or an own table shows may
 * change without a change of a record.
 */
async function findCurrent(
  request: ExportRequest,
  { log, seq, completeness, tables }: Snapshot,
  plans: readonly TableExport[],
  form: string,
): Promise<ExportResult | null> {
  const { out, company, format } = request;
  const place = path.join(out, manifestPath(company));
  const manifest = await readManifest(place);
  if (manifest?.log !== log || plans.some(({ table: { kind } }) => kind !== "table" && kind !== "child"))
    return null;
  const names = new Set(plans.map(({ table }) => table.name));
  const workbook = format === "xlsx" ? fromManifest(company, workbookPath(request)) : null;
  const shown = manifest.files.filter((file) => file.seq === seq && file.form === form);
  const found = shown.filter(
    ({ format: its, table, file }) =>
      its === format && names.has(table) && (workbook === null || file === workbook),
  );
  const kept: ExportResult["kept"] = (before) => keptFiles(before, request, tables, found);
  const isWhole = new Set(found.map(({ table }) => table)).size === names.size;
  if (!isWhole || kept(manifest).length + found.length !== manifest.files.length) return null;
  const hashes = new Map(found.map(({ file, sha256 }) => [belowOut(company, file), sha256]));
  for (const [file, sha256] of hashes) if (!(await hasContent(path.join(out, file), sha256))) return null;
  const files = [...hashes.keys()];
  const same = { removed: [], unchanged: true, undated: [], otherwiseRedacted: [] };
  return { manifest, path: place, files, written: found, kept, completeness, ...same };
}

async function writeTables(
  context: ExportContext,
  plans: readonly TableExport[],
  onProgress: ExportWatch["onProgress"],
): Promise<ManifestFile[]> {
  const onRows = (plan: TableExport, rows: number) =>
    onProgress?.(plan.table.name, rows, plans.indexOf(plan), plans.length);
  if (context.request.format === "xlsx") return writeWorkbook(context, plans, onRows);
  const files: ManifestFile[] = [];
  for (const plan of plans) {
    onRows(plan, 0);
    files.push(...(await writeTable(context, plan, (rows) => onRows(plan, rows))));
  }
  return files;
}

async function commit(
  { parts, request, pool, staging }: ExportContext,
  plans: readonly TableExport[],
  written: readonly ManifestFile[],
) {
  const { out, company, since, period } = request;
  const { seq, run, log, tables: all, completeness } = pool.snapshot;
  const place = path.join(out, manifestPath(company));
  const before = await readManifest(place);
  const kept = (earlier: typeof before) => keptFiles(earlier, request, all, written);
  const manifest: ExportManifest = {
    company,
    created_at: isoTime(parts.clock.nowMs()),
    log,
    seq,
    next_since: seq,
    since: since?.seq ?? null,
    ...(parts.moment && { as_of: parts.moment.at }),
    run: run && { id: run.id, outcome: run.outcome, finished_at: run.finishedAt },
    files: [...kept(before), ...written],
  };
  const hashes = new Map(written.map(({ file, sha256 }) => [belowOut(company, file), sha256]));
  const files = [...hashes.keys()];
  const removed = removedFiles(before, manifest).map((file) => belowOut(company, file));
  await staging.commit({
    files: [...hashes].map(([file, sha256]) => ({ path: file, sha256 })),
    manifest: { path: manifestPath(company), text: manifestText(manifest) },
    remove: removed,
  });
  const redacted = redactionsOf(all).join();
  const otherwise = kept(before).filter((file) => String(file.redacted ?? []) !== redacted);
  return {
    manifest,
    completeness,
    /** Of the manifest. */
    path: place,
    /** Paths below `out`, of this run only. */
    files,
    /** What the manifest says of them: of a workbook, by its tables. */
    written,
    /** What a manifest of earlier runs names and this run leaves alone. */
    kept,
    /** Files of earlier runs that were removed. */
    removed,
    /** Nothing was written, as `ifChanged` allows. */
    unchanged: false,
    /** Tables without a date, which a period does not limit: exported whole. */
    undated: plans.flatMap((plan) => (period && !plan.period ? [plan.table.name] : [])),
    /** Files of earlier exports that stay, and were redacted otherwise. */
    otherwiseRedacted: [...new Set(otherwise.map(({ file }) => belowOut(company, file)))],
  };
}

/** What of a request decides which files there are, not what is in them. */
const beside = ["out", "company", "tables", "since", "ifChanged"] satisfies (keyof ExportRequest)[];

/** The hash of all that shapes the files of an export besides the rows: with another one they are written again. */
function formOf(
  { version, redact = [] }: Pick<ExportParts, "version" | "redact">,
  request: ExportRequest,
  tables: readonly SnapshotTable[],
): string {
  const asked = Object.entries(request).filter(([key]) => !beside.some((one) => one === key));
  const columns = tables.map(({ name, columns: all }) => [name, all.map((one) => [one.name, one.type])]);
  const sorted = asked.toSorted(([a], [b]) => (a < b ? -1 : 1));
  return hash("sha256", JSON.stringify([version, redact, sorted, redactionsOf(tables), columns]));
}
