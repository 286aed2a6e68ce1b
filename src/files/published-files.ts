import { readFileSync, rmSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import path from "node:path";
import { partsOf, type ContentFacts } from "../base/files/hashed-file.ts";
import { forEachAtOnce } from "../base/semaphore.ts";
import { putChecked, type FileStore, type ReadableStore, type WriteRight } from "../file-store/file-store.ts";
import { folderStore } from "../file-store/folder-store.ts";
import type { DocumentFile } from "../state/files/stored-files.ts";
import type { ArchivePosition } from "../state/meta.ts";
import { manifestName, objectPath, objectsName } from "./archive.ts";

/**
 * The archive of a company that several machines share: contents by hash in a store, written once and never removed; the
 * manifest beside each published mirror, as far as that knows it.
 *
 * Guarantee: the contents that a published mirror names were stored and read back before it was published.
 * Source of truth: the published mirror.
 * Worst outcome of a crash: contents that no manifest names; files that no mirror was published with are asked for again.
 */
const placeOf = (company: string) => `.files/${company}`;

/** Where the contents of a company's files are: in a place of its own below that of the snapshots. */
export function contentsAddress(snapshots: string, company: string): string {
  return `${snapshots}/${placeOf(company)}`;
}

/** Those of some minutes are stored within the seconds that a node has to stop. */
const storedAtOnce = 8;

/**
 * Moves the contents that only the folder has to the store, and stores the manifest as far as a mirror knows it, which it
 * gives; null: the mirror knows of no files, or only of answers without one.
 *
 * @throws MirrorError as `putChecked`
 */
export async function storeFiles(
  store: FileStore,
  company: string,
  folder: string,
  position: ArchivePosition | null,
  manifestKey: string,
  right: WriteRight,
): Promise<ContentFacts | null> {
  if (!position || position.lines === 0) return null;
  const keys = await folderStore(folder).list(`${objectsName}/`, right.signal);
  await forEachAtOnce(storedAtOnce, keys, async (key) => {
    const file = path.join(folder, key);
    const expected = { sha256: path.basename(key), size_bytes: statSync(file).size };
    await putChecked(store, `${placeOf(company)}/${key}`, file, right, expected);
    rmSync(file);
  });
  const manifest = readFileSync(path.join(folder, manifestName)).subarray(0, position.bytes);
  return putChecked(store, manifestKey, manifest, right);
}

/** Reads the file of a document from the folder; from the store where that has its content. */
export async function* readFile(
  folder: string,
  store: ReadableStore | null,
  { path: name, sha256 }: Pick<DocumentFile, "path" | "sha256">,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const object = objectPath(sha256);
  const handle = store && (await open(path.join(folder, object)).catch(() => null));
  if (!store) yield* partsOf(path.join(folder, name));
  else yield* handle?.createReadStream() ?? store.read(object, signal);
}
