import { readText, type FileStore, type ReadableStore, type WriteRight } from "../file-store/file-store.ts";
import { isBackupId, manifestName, parseBackupManifest } from "./content/backup-manifest.ts";

/** A company's backups in a store: `<company>/<id>/…`. Without a manifest it is none, so that is stored last. */
export interface StoredBackups {
  /** In the order in which they were made. */
  readonly ids: readonly string[];
  /** Of the last one; 0: there is none. */
  readonly lastNumber: number;
  /** What was begun and not finished, or is being removed. */
  readonly unfinished: readonly string[];
}

/**
 * Reads in which order backups were made, from the numbers in their manifests: names are times, and a clock may be wrong.
 * One whose manifest cannot be used counts as the newest, so that it is neither removed nor passed over unseen.
 *
 * @throws MirrorError of the store
 */
export async function readBackups(
  store: ReadableStore,
  company: string,
  signal: AbortSignal,
): Promise<StoredBackups> {
  const found: { id: string; number: number }[] = [];
  const unfinished: string[] = [];
  for (const id of (await store.folders(`${company}/`, signal)).filter(isBackupId)) {
    const text = await readText(store, `${company}/${id}/${manifestName}`, signal);
    if (text === null) unfinished.push(id);
    else found.push({ id, number: numberIn(text) });
  }
  const ids = found.toSorted((a, b) => a.number - b.number || (a.id < b.id ? -1 : 1)).map(({ id }) => id);
  const numbers = found.map(({ number }) => number).filter((number) => number < Infinity);
  return { ids, lastNumber: Math.max(0, ...numbers), unfinished };
}

function numberIn(text: string): number {
  try {
    return parseBackupManifest(text, "").number;
  } catch {
    return Infinity;
  }
}

/** The manifest first: it never stands for files that are gone. */
export async function removeBackup(store: FileStore, folder: string, right: WriteRight): Promise<void> {
  await store.remove(folder + manifestName, right);
  await store.remove(folder, right);
}
