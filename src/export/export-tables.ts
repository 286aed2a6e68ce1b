import { existsSync } from "node:fs";
import path from "node:path";
import { isoTime, type Clock } from "../base/clock.ts";
import type { Manifest } from "../connector/connector-manifest.ts";
import type { Snapshot } from "../state/snapshot.ts";
import type { SnapshotTable } from "../store/snapshot/snapshot-tables.ts";
import type { Dialect } from "./csv/csv-writer.ts";
import {
  keptFiles,
  readManifest,
  removedFiles,
  type ExportManifest,
  type ManifestFile,
} from "./files/export-manifest.ts";
import { belowOut, filePath, fromManifest, isInside, manifestPath } from "./files/file-layout.ts";
import { Staging } from "./files/staging.ts";
import { planExport } from "./plan/export-plan.ts";
import type { Format, Partition } from "./plan/formats.ts";
import { chosenTables, documentDate } from "./plan/table-choice.ts";
import { openShared, type SharedSnapshot } from "./workers/snapshot-pool.ts";
import { writeTable } from "./write-table.ts";

/** What to export, and in which form. */
export interface ExportRequest {
  readonly format: Format;
  /** The folder; each company has its own below it. */
  readonly out: string;
  readonly company: string;
  /** Names of tables and views; empty: all tables. */
  readonly tables: readonly string[];
  readonly dialect: Dialect;
  readonly partition: Partition | null;
  /** Export only what changed after this position of the change log. */
  readonly since: number | null;
  /** Parquet: child tables as columns of their parents. */
  readonly nested: boolean;
  /** Leave the files alone if they are of this state of the mirror. */
  readonly ifChanged?: boolean;
}

/** What an export works with. */
export interface ExportParts {
  /** The mirror's file. */
  readonly mirror: string;
  readonly manifest: Manifest;
  readonly clock: Clock;
  /** The local date that ages are counted against. */
  readonly reportDate: string;
  /** Of this program. */
  readonly version: string;
  readonly onProgress?: (progress: ExportProgress) => void;
  readonly signal?: AbortSignal;
}

interface ExportProgress {
  readonly table: string;
  /** Of this table, written so far. */
  readonly rows: number;
  /** Finished tables, and all. */
  readonly done: number;
  readonly of: number;
}

/** What an export did. */
export interface ExportResult {
  readonly manifest: ExportManifest;
  /** The manifest's file. */
  readonly path: string;
  /** Paths below `out`, of this run only. */
  readonly files: readonly string[];
  /** Files of earlier runs that were removed. */
  readonly removed: readonly string[];
  /** Nothing was written, as `ifChanged` allows. */
  readonly unchanged: boolean;
}

/**
 * Exports tables and views of one company.
 *
 * Guarantee: all files are of one state of the mirror, and replace earlier ones only when all are complete.
 * Source of truth: the mirror. Worst outcome of a crash: see Staging.
 */
export async function exportTables(parts: ExportParts, request: ExportRequest): Promise<ExportResult> {
  const shared = await openShared(parts.mirror, parts.manifest, { reportDate: parts.reportDate });
  try {
    const { nested, since } = request;
    const tables = chosenTables(shared.snapshot.tables, request.tables, { nested, since: since !== null });
    const current = request.ifChanged ? await findCurrent(request, shared.snapshot, tables) : null;
    if (current) return current;
    const staging = await Staging.open(request.out, request.company);
    try {
      const written = await writeTables(parts, request, shared, staging, tables);
      return await commit(parts, request, shared.snapshot, staging, written);
    } finally {
      await staging.close();
    }
  } finally {
    await shared.close();
  }
}

/** Null unless the files there are of this state and these tables. A view may change with the date alone. */
async function findCurrent(
  { out, company, format, since }: ExportRequest,
  { seq }: Snapshot,
  tables: readonly SnapshotTable[],
): Promise<ExportResult | null> {
  const place = path.join(out, manifestPath(company));
  const manifest = await readManifest(place);
  const found = manifest?.files.filter((file) => file.format === format) ?? [];
  const names = new Set(found.map(({ table }) => table));
  const same = names.size === tables.length && tables.every(({ name }) => names.has(name));
  const isCurrent = found.every(
    (file) => file.seq === seq && existsSync(path.join(out, belowOut(company, file.file))),
  );
  if (!manifest || since !== null || manifest.since !== null || !same || !isCurrent) return null;
  if (tables.some(({ kind }) => kind === "view")) return null;
  const files = found.map(({ file }) => belowOut(company, file));
  return { manifest, path: place, files, removed: [], unchanged: true };
}

async function writeTables(
  parts: ExportParts,
  request: ExportRequest,
  { snapshot, pool }: SharedSnapshot,
  staging: Staging,
  tables: readonly SnapshotTable[],
): Promise<ManifestFile[]> {
  const { format, company, partition, since, dialect } = request;
  const nested = request.nested ? snapshot.tables.filter(({ kind }) => kind === "child") : [];
  const raw = rawTables(snapshot);
  const files: ManifestFile[] = [];
  for (const [done, table] of tables.entries()) {
    const date = partition === null ? null : documentDate(parts.manifest, table);
    const plan = planExport(table, { format, since, partition, date, hasRaw: raw.has(table.name) });
    const place = (part: string | null) => filePath({ company, table: table.name, format, part, partition });
    let rows = 0;
    const onRows = (more: number) =>
      parts.onProgress?.({ table: table.name, rows: (rows += more), done, of: tables.length });
    onRows(0);
    const written = await writeTable(plan, {
      format,
      pool,
      db: snapshot.db,
      dialect,
      nested,
      facts: factsOf(snapshot, request, table),
      createdBy: `fintoro-mirror ${parts.version}`,
      placeOf: (part) => staging.placeOf(place(part)),
      onRows,
      signal: parts.signal,
    });
    for (const { part, ...facts } of written) {
      const file = fromManifest(company, place(part));
      files.push({ table: table.name, format, file, ...facts, seq: snapshot.seq });
    }
  }
  return files;
}

/** Tables whose records' JSON is in a table of its own; a mirror of an older version has none. */
function rawTables({ db, tables }: Snapshot): Set<string> {
  const sql = "SELECT name FROM main.sqlite_master WHERE type = 'table'";
  const present = new Set(db.prepare(sql).pluck().all() as string[]);
  return new Set(tables.map(({ name }) => name).filter((name) => present.has(`_raw_${name}`)));
}

/** Key-value metadata of a Parquet file. */
function factsOf(
  { seq, run }: Snapshot,
  { company, since }: ExportRequest,
  { name, title, doc, columns }: SnapshotTable,
): Record<string, string> {
  const comments = columns.flatMap((column) => (column.doc === null ? [] : [[column.name, column.doc]]));
  return {
    company,
    table: name,
    title,
    ...(doc === null ? {} : { description: doc }),
    seq: String(seq),
    ...(since === null ? {} : { since: String(since) }),
    ...(run === null ? {} : { run: String(run.id), run_finished_at: run.finishedAt }),
    column_comments: JSON.stringify(Object.fromEntries(comments)),
  };
}

async function commit(
  { clock }: ExportParts,
  { out, company, format, tables, since }: ExportRequest,
  { seq, run }: Snapshot,
  staging: Staging,
  written: readonly ManifestFile[],
): Promise<ExportResult> {
  const place = path.join(out, manifestPath(company));
  const before = await readManifest(place);
  const manifest: ExportManifest = {
    company,
    created_at: isoTime(clock.nowMs()),
    seq,
    next_since: seq,
    since,
    run: run && { id: run.id, outcome: run.outcome, finished_at: run.finishedAt },
    files: [...keptFiles(before, format, tables), ...written],
  };
  const below = (file: string) => belowOut(company, file);
  const files = written.map(({ file }) => below(file));
  const removed = removedFiles(before, manifest)
    .map(below)
    .filter((file) => isInside(company, file));
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  await staging.commit({ files, manifest: { path: manifestPath(company), text }, remove: removed });
  return { manifest, path: place, files, removed, unchanged: false };
}
