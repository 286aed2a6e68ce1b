import { open, readFile } from "node:fs/promises";
import path from "node:path";
import type { Clock } from "../../base/clock.ts";
import { assert, MirrorError } from "../../base/errors.ts";
import type { ExportRequest, ExportResult } from "../export-tables.ts";
import { belowOut, isInside, manifestPath } from "../files/file-layout.ts";
import { throwIfAborted } from "../interruption.ts";
import { keptFiles, type ExportManifest, type ManifestFile } from "../files/export-manifest.ts";
import type { ObjectStore } from "./object-store.ts";

export interface UploadParts {
  readonly store: ObjectStore;
  readonly prefix: string;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
  readonly onFile?: (file: string, done: number, of: number) => void;
}

export interface Uploaded {
  /** Keys written, the manifest last. */
  readonly written: readonly string[];
  /** That were there already with the same content. */
  readonly unchanged: readonly string[];
  readonly removed: readonly string[];
}

/** Objects above this go up in parts, of which one is in memory. S3 wants 5 MB at least. */
const partBytes = 8_000_000;

/**
 * Puts one run's files where others read them: data first, the manifest after it, and what no longer belongs
 * goes last. An upload that is cut off leaves the manifest of before; whoever goes by manifests never finds
 * one that names an object that is not there. Objects themselves are replaced one by one, each at once.
 */
export async function uploadExport(
  parts: UploadParts,
  request: ExportRequest,
  { manifest }: ExportResult,
): Promise<Uploaded> {
  const { company, format, tables, out } = request;
  const keyOf = (file: string) =>
    [parts.prefix, belowOut(company, file)].filter((part) => part !== "").join("/");
  const manifestKey = [parts.prefix, manifestPath(company)].filter((part) => part !== "").join("/");
  const before = await remoteManifest(parts, manifestKey);
  const files = manifest.files.filter((file) => file.format === format && isOfRun(file, tables));
  const known = new Map(before?.files.map((file) => [file.file, file.sha256]));
  const written: string[] = [];
  const unchanged: string[] = [];
  for (const [done, file] of files.entries()) {
    throwIfAborted(parts.signal);
    parts.onFile?.(file.file, done, files.length);
    const isThere = known.get(file.file) === file.sha256;
    if (!isThere) await put(parts, keyOf(file.file), path.join(out, belowOut(company, file.file)));
    (isThere ? unchanged : written).push(keyOf(file.file));
  }
  const kept = keptFiles(before, format, tables.length === 0 ? null : new Set(tables));
  const remote: ExportManifest = { ...manifest, files: [...kept, ...files] };
  const body = Buffer.from(`${JSON.stringify(remote, null, 2)}\n`);
  await withRetries(parts, () => parts.store.put(manifestKey, body, "application/json"));
  const stays = new Set(remote.files.map(({ file }) => file));
  const removed = (before?.files ?? [])
    .map(({ file }) => file)
    .filter((file) => !stays.has(file) && isInside(company, belowOut(company, file)));
  for (const file of removed) await withRetries(parts, () => parts.store.remove(keyOf(file)));
  return { written: [...written, manifestKey], unchanged, removed: removed.map(keyOf) };
}

function isOfRun({ table }: ManifestFile, tables: readonly string[]): boolean {
  return tables.length === 0 || tables.includes(table);
}

async function remoteManifest(parts: UploadParts, key: string): Promise<ExportManifest | null> {
  const text = await withRetries(parts, () => parts.store.read(key));
  try {
    const found = JSON.parse(text ?? "null") as Partial<ExportManifest> | null;
    return Array.isArray(found?.files) ? (found as ExportManifest) : null;
  } catch {
    return null;
  }
}

const types = { csv: "text/csv", jsonl: "application/x-ndjson", parquet: "application/vnd.apache.parquet" };

async function put(parts: UploadParts, key: string, file: string): Promise<void> {
  const type = types[path.extname(file).slice(1) as keyof typeof types];
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    if (size > partBytes) {
      await putInParts(parts, key, type, size, async (from) => {
        const part = Buffer.alloc(Math.min(partBytes, size - from));
        const { bytesRead } = await handle.read(part, 0, part.length, from);
        assert(bytesRead === part.length, "a finished file is read as long as it is");
        return part;
      });
      return;
    }
  } finally {
    await handle.close();
  }
  const body = await readFile(file);
  await withRetries(parts, () => parts.store.put(key, body, type));
}

async function putInParts(
  parts: UploadParts,
  key: string,
  type: string,
  size: number,
  read: (from: number) => Promise<Uint8Array>,
): Promise<void> {
  const upload = await withRetries(parts, () => parts.store.begin(key, type));
  try {
    for (let from = 0; from < size; from += partBytes) {
      throwIfAborted(parts.signal);
      const part = await read(from);
      await withRetries(parts, () => upload.put(part));
    }
    await withRetries(parts, () => upload.finish());
  } catch (error) {
    await upload.abort().catch(() => undefined);
    throw error;
  }
}

const pausesMs = [500, 2_000, 8_000];

/** What a network drops is sent again, a few times. */
async function withRetries<T>({ clock, signal }: UploadParts, step: () => Promise<T>): Promise<T> {
  for (const pauseMs of pausesMs) {
    try {
      return await step();
    } catch (error) {
      if (!(error instanceof MirrorError) || !error.retryable || signal?.aborted) throw error;
      await clock.sleep(pauseMs, signal);
    }
  }
  return step();
}
