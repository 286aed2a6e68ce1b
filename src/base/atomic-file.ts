import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";

/** Where the new text of a file is written first. */
export function draftOf(file: string): string {
  return `${file}.new`;
}

/**
 * Writes a file whole: first beside it, then by a rename.
 *
 * Guarantee: after a crash the file holds the old text or the new one, never a part. When the function returns,
 * the new one is on the disk. Source of truth: the file. Worst outcome of a crash: `draftOf(file)` is left over.
 *
 * @param mode of a new draft, `0o666` less the umask when not given
 */
export function writeFileAtomically(file: string, text: string | Uint8Array, mode = 0o666): void {
  writeFileSync(draftOf(file), text, { mode });
  replaceFile(draftOf(file), file);
}

/** Moves a finished file over another one on the same file system, safe against a power cut at any time. */
export function replaceFile(finished: string, file: string): void {
  syncToDisk(finished);
  renameSync(finished, file);
  syncToDisk(path.dirname(file));
}

/** Waits until a file's content, or a folder's list of names, is on the disk. */
export function syncToDisk(place: string): void {
  const fd = openSync(place, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
