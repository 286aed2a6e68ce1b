import path from "node:path";
import { manifestText } from "../base/files/hashed-file.ts";
import { readText, type FileStore, type WriteRight } from "../file-store/file-store.ts";
import { belowOut, exportManifestIn, manifestPath, removedFiles } from "./files/export-manifest.ts";
import type { ExportManifest } from "./files/export-manifest.ts";
import type { ExportResult } from "./export-tables.ts";

/** What an upload did, as keys; the manifest is written last. */
export type Uploaded = Awaited<ReturnType<typeof uploadExport>>;

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
  store: FileStore,
  out: string,
  { manifest, written, kept }: Pick<ExportResult, "manifest" | "written" | "kept">,
  right: WriteRight,
  onFile: (file: string, done: number, of: number) => void = () => undefined,
) {
  const { company } = manifest;
  const keyOf = (file: string) => belowOut(company, file);
  const manifestKey = manifestPath(company);
  const before = exportManifestIn(await readText(store, manifestKey, right.signal));
  const contents = new Map(written.map((file) => [file.file, file]));
  const noteKey = `${company}/.upload.partial`;
  const note = await readText(store, noteKey, right.signal);
  const unsure = new Set(note?.split("\n").filter((file) => file !== ""));
  const known = new Map(before?.files.map(({ file, sha256 }) => [file, sha256]));
  const { same = [], changed = [] } = Object.groupBy(contents.values(), ({ file, sha256 }) =>
    known.get(file) === sha256 && !unsure.has(file) ? "same" : "changed",
  );
  const keep = async (names: readonly string[]) => {
    if (names.length === 0) await store.remove(noteKey, right);
    else await store.put(noteKey, Buffer.from(names.join("\n")), right);
  };
  // Where no object is replaced, none can be newer than the manifest.
  const isNoted = unsure.size > 0 || changed.some(({ file }) => known.has(file));
  if (isNoted) await keep([...new Set([...unsure, ...changed.map(({ file }) => file)])]);
  for (const [done, { file }] of changed.entries()) {
    onFile(file, done, changed.length);
    await store.put(keyOf(file), path.join(out, keyOf(file)), right);
  }
  const remote: ExportManifest = { ...manifest, files: [...kept(before), ...written] };
  await store.put(manifestKey, Buffer.from(manifestText(remote)), right);
  const removed = removedFiles(before, remote).map(keyOf);
  for (const key of removed) await store.remove(key, right);
  if (isNoted) await keep([...unsure].filter((file) => !contents.has(file)));
  return {
    written: [...changed.map(({ file }) => keyOf(file)), manifestKey],
    /** Left alone: the store has the same content. */
    unchanged: same.map(({ file }) => keyOf(file)),
    removed,
  };
}
