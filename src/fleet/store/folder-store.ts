import { randomUUID } from "node:crypto";
import { createReadStream, createWriteStream, renameSync } from "node:fs";
import { readdir, rm, rmdir, stat } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { flushToDisk, makeFolders } from "../../base/atomic-file.ts";
import { throwIfAborted } from "../../base/cancellation.ts";
import { messageOf, MirrorError, systemReason } from "../../base/errors.ts";
import type { FleetStore, WriteRight } from "./fleet-store.ts";

/** What the name of an unfinished file ends with: no reader takes it for another one, and no other node writes it. */
const unfinishedBy = (writer: string) => `.${writer}.partial`;

/**
 * The fleet's files in a folder that all nodes share.
 *
 * Guarantee: under its name a file is whole and on the disk. The right to write is asked for directly before the rename.
 * Source of truth: the folder.
 * Worst outcome of a crash: a file `….partial`, until its folder is tidied.
 */
export function folderStore(folder: string): FleetStore {
  const place = (key: string) => path.join(folder, key);
  const unfinished = unfinishedBy(randomUUID().slice(0, 8));
  return {
    address: folder,
    put: (key, file, right) =>
      guarded(key, right.signal, () => putFile({ target: place(key), unfinished }, file, right)),
    read: (key, sizeBytes, signal) => readFile(key, place(key), sizeBytes, signal),
    list: (start, signal) => guarded(start, signal, () => filesBelow(folder, start)),
    remove: (key, { signal, assertHeld }) =>
      guarded(key, signal, async () => {
        assertHeld();
        await rm(place(key), { force: true });
        await removeEmpty(path.dirname(place(key)));
      }),
  };
}

/** Where a file is put. */
interface Place {
  readonly target: string;
  readonly unfinished: string;
}

/** More than nodes that remove the same folder at the same time. */
const mostAttempts = 10;

/** Another node may remove the file's folder in between, because it was empty: then it is made again. */
async function putFile(place: Place, file: string, right: WriteRight): Promise<void> {
  for (let attempt = 1; ; attempt++)
    try {
      return await putOnce(place, file, right);
    } catch (error) {
      if (attempt === mostAttempts || !isAbsence(error)) throw error;
    }
}

/** The file keeps its mode, and the folders that are made for it can be entered by whom it lets read. */
async function putOnce(
  { target, unfinished }: Place,
  file: string,
  { signal, assertHeld }: WriteRight,
): Promise<void> {
  assertHeld();
  const mode = (await stat(file)).mode & 0o777;
  const draft = target + unfinished;
  makeFolders(path.dirname(target), mode | 0o700 | ((mode & 0o444) >> 2));
  await rm(draft, { force: true });
  await pipeline(createReadStream(file), createWriteStream(draft, { mode, flags: "wx" }), { signal });
  await flushToDisk(draft);
  assertHeld();
  renameSync(draft, target);
  await flushToDisk(path.dirname(target));
}

async function* readFile(
  key: string,
  file: string,
  sizeBytes: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(file, { end: sizeBytes - 1, signal }) as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw folderError(key, signal, error);
  }
}

/** Keys below a folder of the store; none where it is not there. */
async function filesBelow(folder: string, start: string): Promise<string[]> {
  const entries = await readdir(path.join(folder, start), { recursive: true, withFileTypes: true }).catch(
    (error: unknown) => {
      if (isAbsence(error)) return [];
      throw error;
    },
  );
  const files = entries.filter((entry) => entry.isFile());
  return files.map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)));
}

/** Another node may have put a file there meanwhile: then it stays. */
async function removeEmpty(folder: string): Promise<void> {
  await rmdir(folder).catch(() => undefined);
}

async function guarded<T>(key: string, signal: AbortSignal, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    throw folderError(key, signal, error);
  }
}

function folderError(key: string, signal: AbortSignal, error: unknown): unknown {
  if (error instanceof MirrorError) return error;
  throwIfAborted(signal, `writing or reading was interrupted: ${key}`);
  return new MirrorError(
    "unavailable",
    `the fleet's folder refused ${key}: ${systemReason(error) ?? messageOf(error)}`,
    {
      retryable: !isAbsence(error),
      hint: "Check that the folder is mounted on this node, and may be read and written.",
      cause: error,
    },
  );
}

function isAbsence(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
