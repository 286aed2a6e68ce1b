import { open, type FileHandle } from "node:fs/promises";
import path from "node:path";
import { throwIfAborted } from "../../base/cancellation.ts";
import type { Clock } from "../../base/clock.ts";
import { assert, MirrorError } from "../../base/errors.ts";
import { keptFiles, parseManifest, removedFiles, type ExportManifest } from "../files/export-manifest.ts";
import { belowOut, manifestPath } from "../files/file-layout.ts";
import type { ExportRequest } from "../plan/export-request.ts";
import type { ObjectStore } from "./object-store.ts";

export interface RequestParts {
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
  /** Called directly before each attempt; what it throws ends the work. */
  readonly beforeRequest?: () => void;
}

export interface UploadParts extends RequestParts {
  readonly prefix: string;
  readonly onFile?: (file: string, done: number, of: number) => void;
}

/** What an upload did, as keys. */
export interface Uploaded {
  /** The manifest last. */
  readonly written: readonly string[];
  /** Left alone: the store has the same content. */
  readonly unchanged: readonly string[];
  readonly removed: readonly string[];
}

/** Larger files are sent in parts of this size, of which one is in memory. S3 wants 5 MB at least. */
export const partBytes = 8_000_000;

/**
 * Uploads the files of one run.
 *
 * Guarantee: a manifest never names an object that is missing: data goes first, then the manifest, then
 * objects that no longer belong are removed. Each object is replaced at once.
 * Source of truth: the local files.
 * Worst outcome of a crash: the store has the earlier manifest, and some objects are newer than it says. A note beside
 * the manifest names them, so that the next upload sends them again, whatever the manifest says.
 *
 * @throws MirrorError of the store, or `stopped`
 */
export async function uploadExport(
  parts: UploadParts,
  { company, format, tables, out }: ExportRequest,
  { manifest }: { readonly manifest: ExportManifest },
): Promise<Uploaded> {
  const keyBelow = (file: string) => [parts.prefix, file].filter((part) => part !== "").join("/");
  const keyOf = (file: string) => keyBelow(belowOut(company, file));
  const manifestKey = keyBelow(manifestPath(company));
  const before = parseManifest(await withRetries(parts, () => parts.store.read(manifestKey)));
  const files = manifest.files.filter(
    ({ format: ofFile, table }) => ofFile === format && (tables.length === 0 || tables.includes(table)),
  );
  const contents = new Map(files.map((file) => [file.file, file]));
  const noteKey = keyBelow(`${company}/.upload.partial`);
  const note = await withRetries(parts, () => parts.store.read(noteKey));
  const unsure = new Set(note?.split("\n").filter((file) => file !== ""));
  const known = new Map(before?.files.map(({ file, sha256 }) => [file, sha256]));
  const { same = [], changed = [] } = Object.groupBy(contents.values(), ({ file, sha256 }) =>
    known.get(file) === sha256 && !unsure.has(file) ? "same" : "changed",
  );
  const keep = async (names: readonly string[]) => {
    const body = Buffer.from(names.join("\n"));
    if (names.length === 0) await withRetries(parts, () => parts.store.remove(noteKey));
    else await withRetries(parts, () => parts.store.put(noteKey, body, "text/plain"));
  };
  // Where no object is replaced, none can be newer than the manifest.
  const isNoted = unsure.size > 0 || changed.some(({ file }) => known.has(file));
  if (isNoted) await keep([...new Set([...unsure, ...changed.map(({ file }) => file)])]);
  for (const [done, { file }] of changed.entries()) {
    throwIfAborted(parts.signal, interrupted);
    parts.onFile?.(file, done, changed.length);
    await uploadFile(parts, keyOf(file), path.join(out, belowOut(company, file)));
  }
  const remote: ExportManifest = {
    ...manifest,
    files: [...keptFiles(before, format, tables, files), ...files],
  };
  const body = Buffer.from(`${JSON.stringify(remote, null, 2)}\n`);
  await withRetries(parts, () => parts.store.put(manifestKey, body, "application/json"));
  const removed = removedFiles(before, remote).map(keyOf);
  for (const key of removed) await withRetries(parts, () => parts.store.remove(key));
  if (isNoted) await keep([...unsure].filter((file) => !contents.has(file)));
  return {
    written: [...changed.map(({ file }) => keyOf(file)), manifestKey],
    unchanged: same.map(({ file }) => keyOf(file)),
    removed,
  };
}

const interrupted = "the upload was interrupted; the object store keeps the earlier manifest";

const types = new Map([
  [".csv", "text/csv"],
  [".json", "application/json"],
  [".jsonl", "application/x-ndjson"],
  [".xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"],
  [".parquet", "application/vnd.apache.parquet"],
]);

/** Sends a file of any size under this key. */
export async function uploadFile(parts: RequestParts, key: string, file: string): Promise<void> {
  const type = types.get(path.extname(file)) ?? "application/octet-stream";
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    if (size > partBytes) return await uploadInParts(parts, key, type, handle);
    const body = await handle.readFile();
    await withRetries(parts, () => parts.store.put(key, body, type));
  } finally {
    await handle.close();
  }
}

async function uploadInParts(
  parts: RequestParts,
  key: string,
  type: string,
  file: FileHandle,
): Promise<void> {
  const { size } = await file.stat();
  const upload = await withRetries(parts, () => parts.store.begin(key, type));
  try {
    for (let from = 0; from < size; from += partBytes) {
      throwIfAborted(parts.signal, interrupted);
      const part = Buffer.alloc(Math.min(partBytes, size - from));
      const { bytesRead } = await file.read(part, 0, part.length, from);
      assert(bytesRead === part.length, "a finished file keeps its length");
      await withRetries(parts, () => upload.put(part));
    }
    await withRetries(parts, () => upload.finish());
  } catch (error) {
    await upload.abort().catch(() => undefined);
    throw error;
  }
}

/** Pauses before the second, third and fourth attempt. */
const retryDelaysMs = [500, 2_000, 8_000];

/** Repeats a request that failed with a retryable error. */
export async function withRetries<T>(
  { clock, signal, beforeRequest }: Omit<RequestParts, "store">,
  request: () => Promise<T>,
): Promise<T> {
  for (const delayMs of retryDelaysMs) {
    try {
      beforeRequest?.();
      return await request();
    } catch (error) {
      if (!(error instanceof MirrorError) || !error.retryable || signal?.aborted) throw error;
      await clock.sleep(delayMs, signal);
    }
  }
  beforeRequest?.();
  return request();
}
