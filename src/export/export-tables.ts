import { isoTime, type Clock } from "../base/clock.ts";
import type { Manifest } from "../connector/connector-manifest.ts";
import type { Snapshot } from "../state/snapshot.ts";
import type { SnapshotTable } from "../store/snapshot/snapshot-tables.ts";
import { existsSync } from "node:fs";
import path from "node:path";
import { chosenTables, documentDate } from "./plan/table-choice.ts";
import type { Dialect } from "./csv/csv-writer.ts";
import type { Format, Partition } from "./plan/formats.ts";
import { belowOut, filePath, fromManifest, isInside, manifestPath } from "./files/file-layout.ts";
import { keptFiles, readManifest, type ExportManifest, type ManifestFile } from "./files/export-manifest.ts";
import { openShared, type SharedSnapshot } from "./workers/snapshot-pool.ts";
import { Staging } from "./files/staging.ts";
import { planTable } from "./plan/export-plan.ts";
import { writeTable } from "./write-table.ts";

export interface ExportRequest {
  readonly format: Format;
  /** The folder; the company's own is below it. */
  readonly out: string;
  readonly company: string;
  /** By name; empty: all tables. */
  readonly tables: readonly string[];
  readonly dialect: Dialect;
  readonly partition: Partition | null;
  /** Only what changed after this position of the change log. */
  readonly since: number | null;
  /** Parquet: child tables as columns of their parents. */
  readonly nested: boolean;
  /** Where the files that are there are of this state of the mirror already, they stay. */
  readonly ifChanged?: boolean;
}

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
  /** Of its rows, written so far. */
  readonly rows: number;
  /** Tables that are finished, and all of them. */
  readonly done: number;
  readonly of: number;
}

export interface ExportResult {
  readonly manifest: ExportManifest;
  /** Where the manifest stands. */
  readonly path: string;
  /** Paths below `out`, of this run only. */
  readonly files: readonly string[];
  /** Of earlier runs, taken away. */
  readonly removed: readonly string[];
  /** Nothing was to be done. */
  readonly unchanged: boolean;
}

/** One run: all files from one state of the mirror, put into place when every one of them is whole. */
export async function exportTables(parts: ExportParts, request: ExportRequest): Promise<ExportResult> {
  const shared = await openShared(parts.mirror, parts.manifest, { reportDate: parts.reportDate });
  try {
    const { nested, since } = request;
    const tables = chosenTables(shared.snapshot.tables, request.tables, { nested, since: since !== null });
    const current = request.ifChanged ? await currentFiles(request, shared.snapshot, tables) : null;
    if (current) return current;
    const staging = await Staging.open(request.out, request.company);
    try {
      const written = await writeAll(parts, request, shared, staging, tables);
      return await install(parts, request, shared.snapshot, staging, written);
    } finally {
      await staging.close();
    }
  } finally {
    await shared.close();
  }
}

/** Null: they are of another state, of other tables, or not all there. A view may change with the day alone. */
async function currentFiles(
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

async function writeAll(
  parts: ExportParts,
  request: ExportRequest,
  { snapshot, crew }: SharedSnapshot,
  staging: Staging,
  tables: readonly SnapshotTable[],
): Promise<ManifestFile[]> {
  const { format, company, partition, since } = request;
  const nested = request.nested ? snapshot.tables.filter(({ kind }) => kind === "child") : [];
  const raw = rawTables(snapshot);
  const files: ManifestFile[] = [];
  for (const [done, table] of tables.entries()) {
    const date = partition === null ? null : documentDate(parts.manifest, table);
    const plan = planTable(table, { format, since, partition, date, hasRaw: raw.has(table.name) });
    const place = (part: string | null) => filePath({ company, table: table.name, format, part, partition });
    let rows = 0;
    const tell = (more: number) =>
      parts.onProgress?.({ table: table.name, rows: (rows += more), done, of: tables.length });
    tell(0);
    const written = await writeTable(plan, format, {
      crew,
      db: snapshot.db,
      dialect: request.dialect,
      nested,
      facts: factsOf(snapshot, request, table),
      createdBy: `fintoro-mirror ${parts.version}`,
      placeOf: (part) => staging.placeOf(place(part)),
      onRows: tell,
      signal: parts.signal ?? new AbortController().signal,
    });
    for (const { part, ...facts } of written) {
      const file = fromManifest(company, place(part));
      files.push({ table: table.name, format, file, ...facts, seq: snapshot.seq });
    }
  }
  return files;
}

/** The records' JSON has a table of its own, unless an older version wrote the mirror. */
function rawTables({ db, tables }: Snapshot): Set<string> {
  const sql = "SELECT name FROM main.sqlite_master WHERE type = 'table'";
  const present = new Set(db.prepare(sql).pluck().all() as string[]);
  return new Set(tables.map(({ name }) => name).filter((name) => present.has(`_raw_${name}`)));
}

/** What a Parquet file says of itself; readers show it as key-value metadata. */
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

async function install(
  { clock }: ExportParts,
  { out, company, format, tables, since }: ExportRequest,
  { seq, run }: Snapshot,
  staging: Staging,
  written: readonly ManifestFile[],
): Promise<ExportResult> {
  const place = path.join(out, manifestPath(company));
  const before = await readManifest(place);
  const kept = keptFiles(before, format, tables.length === 0 ? null : new Set(tables));
  const manifest: ExportManifest = {
    company,
    created_at: isoTime(clock.nowMs()),
    seq,
    next_since: seq,
    since,
    run: run && { id: run.id, outcome: run.outcome, finished_at: run.finishedAt },
    files: [...kept, ...written],
  };
  const stays = new Set(manifest.files.map(({ file }) => file));
  const removed = (before?.files ?? []).map(({ file }) => file).filter((file) => !stays.has(file));
  const below = (file: string) => belowOut(company, file);
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  const files = written.map(({ file }) => below(file));
  const remove = removed.map(below).filter((file) => isInside(company, file));
  await staging.commit({ files, manifest: { path: manifestPath(company), text }, remove });
  return { manifest, path: place, files, removed: remove, unchanged: false };
}
