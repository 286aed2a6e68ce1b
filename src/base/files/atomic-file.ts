import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import path from "node:path";
import { valueOr } from "../errors.ts";

export function draftOf(file: string): string {
  return `${file}.new`;
}

/**
 * Writes a file whole: first beside it, then by a rename.
 *
 * Guarantee: after a crash the file holds the old text or the new one, never a part. When the function returns,
 * the new one is on the disk. Source of truth: the file. Worst outcome of a crash: `draftOf(file)` is left over.
 *
 * @param mode of a new file; one that is replaced keeps its own
 */
export function writeFileAtomically(file: string, text: string | Uint8Array, mode = 0o600): void {
  const draft = draftOf(file);
  writeFileSync(draft, text, { mode });
  keepMode(draft, file, mode);
  replaceFile(draft, file);
}

/** What a file of JSON holds that was written so; null where there is none, or it cannot be read. */
export function readJsonFile<T = object>(file: string): Partial<T> | null {
  return valueOr(() => JSON.parse(readFileSync(file, "utf8")) as Partial<T> | null, null);
}

/** Is it a list of objects that have these texts? */
export function isListOf(value: unknown, texts: readonly string[]): boolean {
  const isOne = (one: unknown) =>
    texts.every((name) => typeof (one as Record<string, unknown> | null)?.[name] === "string");
  return Array.isArray(value) && value.every(isOne);
}

/** Gives a finished file the mode of the one that it is about to replace, which somebody may have chosen. */
export function keepMode(finished: string, file: string, otherwise = statSync(finished).mode): void {
  chmodSync(finished, (statSync(file, { throwIfNoEntry: false })?.mode ?? otherwise) & 0o777);
}

/** Moves a finished file over another one on the same file system, safe against a power cut at any time. */
export function replaceFile(finished: string, file: string): void {
  syncToDisk(finished);
  renameSync(finished, file);
  syncToDisk(path.dirname(file));
}

/** Waits until a file's content, or a folder's list of names, is on the disk. */
export function syncToDisk(place: string): void {
  using file = openFile(place, "r");
  fsyncSync(file.fd);
}

/** Opens a file, or a folder, that is closed at the end of the block. */
export function openFile(place: string, flags: string, mode?: number) {
  const fd = openSync(place, flags, mode);
  return { fd, [Symbol.dispose]: () => closeSync(fd) };
}

/** The same without holding up this thread: a file of many megabytes may take the disk a while. */
export async function flushToDisk(place: string): Promise<void> {
  await using handle = await open(place, "r");
  await handle.sync();
}

/**
 * Makes a folder, and those above it that are missing, with this mode whatever the umask. One by one: the way of the
 * library (`recursive`) never returns below /proc. Throws what `mkdir` throws, ENOTDIR where a file is in the way.
 */
export function makeFolders(folder: string, mode = 0o700): void {
  const present = nearestPresent(folder);
  if (!statSync(present).isDirectory())
    throw Object.assign(new Error(`a file is where a folder belongs: ${present}`), {
      code: "ENOTDIR",
      syscall: "mkdir",
    });
  const names = path.relative(present, path.resolve(folder)).split(path.sep);
  for (const [index, name] of names.entries())
    if (name !== "") makeFolder(path.join(present, ...names.slice(0, index + 1)), mode);
}

/** The path itself, or the nearest above it that exists. */
export function nearestPresent(place: string): string {
  let present = path.resolve(place);
  while (!existsSync(present) && path.dirname(present) !== present) present = path.dirname(present);
  return present;
}

/** What is free for this user on the disk of a place, or of the nearest above it that exists. */
export function freeBytesAt(place: string): number {
  const { bavail, bsize } = statfsSync(nearestPresent(place));
  return bavail * bsize;
}

function makeFolder(folder: string, mode: number): void {
  try {
    mkdirSync(folder);
    chmodSync(folder, mode);
  } catch (error) {
    // Another process made it meanwhile.
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}
