import { randomUUID } from "node:crypto";
import { renameSync } from "node:fs";
import { open, readdir, rm, rmdir, stat } from "node:fs/promises";
import path from "node:path";
import { flushToDisk, makeFolders, nearestPresent } from "../base/files/atomic-file.ts";
import { codeOf, messageOf, MirrorError, systemProblem, throwIfAborted } from "../base/errors.ts";
import { hashOf, partsOf, type ContentFacts } from "../base/files/hashed-file.ts";
import type { FileStore, WriteRight } from "./file-store.ts";

/**
 * Files in a folder, which several processes may share.
 *
 * Guarantee: under its name a file is whole and on the disk. The right to write is asked for directly before the rename.
 * Source of truth: the folder.
 * Worst outcome of a crash: a file `….partial`, until its folder is tidied.
 *
 * @param ownMode of all files; absent: each keeps its own, and bytes have 0600
 */
export function folderStore(folder: string, ownMode?: number): FileStore {
  const place = (key: string) => path.join(folder, key);
  // No reader takes it for another one, and no other process writes it.
  const unfinished = `.${randomUUID().slice(0, 8)}.partial`;
  return {
    address: folder,
    put: (key, content, right) =>
      guarded(place(key), right.signal, async () => {
        // Another process may remove the file's folder in between, because it was empty: then it is made again.
        for (let attempt = 1; ; attempt++)
          try {
            return await putFile(place(key), place(key) + unfinished, content, right, ownMode);
          } catch (error) {
            if (attempt === mostAttempts || !isAbsence(error)) throw error;
          }
      }),
    read: (key, signal) => readFile(place(key), signal),
    list: (start, signal) =>
      guarded(place(start), signal, async () => {
        const files = (await entriesOf(place(start), true)).filter((entry) => entry.isFile());
        return files.map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)));
      }),
    folders: (start, signal) =>
      guarded(place(start), signal, async () => {
        const folders = (await entriesOf(place(start), false)).filter((entry) => entry.isDirectory());
        return folders.map(({ name }) => name);
      }),
    remove: (key, { signal, assertHeld }) =>
      guarded(place(key), signal, async () => {
        assertHeld();
        await rm(place(key), { force: true, recursive: key.endsWith("/") });
        // Another process may have put a file there meanwhile: then it stays.
        await rmdir(path.dirname(place(key))).catch(() => undefined);
      }),
  };
}

/** More than processes that remove the same folder at the same time. */
const mostAttempts = 10;

/** The folders that are made for a file can be entered by whom it lets read. */
async function putFile(
  target: string,
  draft: string,
  content: string | Uint8Array,
  { signal, assertHeld }: WriteRight,
  ownMode?: number,
): Promise<ContentFacts> {
  assertHeld();
  const isFile = typeof content === "string";
  const mode = ownMode ?? (isFile ? (await stat(content)).mode & 0o777 : 0o600);
  const above = path.dirname(target);
  const present = nearestPresent(above);
  makeFolders(above, mode | 0o700 | ((mode & 0o444) >> 2));
  await rm(draft, { force: true });
  const handle = await open(draft, "wx", mode);
  try {
    const facts = await hashOf(isFile ? partsOf(content) : [content], async (part) => {
      signal.throwIfAborted();
      await handle.writeFile(part);
    });
    await handle.sync();
    assertHeld();
    renameSync(draft, target);
    for (let each = above; each !== path.dirname(present); each = path.dirname(each)) await flushToDisk(each);
    return facts;
  } finally {
    // What was cut off or refused takes no space. Neither step hides why.
    await handle.close().catch(() => undefined);
    await rm(draft, { force: true }).catch(() => undefined);
  }
}

async function* readFile(file: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    for await (const part of partsOf(file)) {
      signal.throwIfAborted();
      yield part;
    }
  } catch (error) {
    throw folderError(file, signal, error, isAbsence(error) ? "not_found" : "database");
  }
}

/** None where the folder is not there. */
async function entriesOf(folder: string, recursive: boolean) {
  return readdir(folder, { recursive, withFileTypes: true }).catch((error: unknown) => {
    if (isAbsence(error)) return [];
    throw error;
  });
}

async function guarded<T>(place: string, signal: AbortSignal, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    throw folderError(place, signal, error);
  }
}

function folderError(
  place: string,
  signal: AbortSignal,
  error: unknown,
  kind: "database" | "not_found" = "database",
): unknown {
  if (error instanceof MirrorError) return error;
  throwIfAborted(signal, `writing or reading was interrupted: ${place}`);
  const why = systemProblem(error)?.reason ?? messageOf(error);
  return new MirrorError(kind, `the folder refused ${place}: ${why}`, {
    retryable: !isAbsence(error),
    hint: "Check that it is mounted on this machine and may be read and written, or name another folder.",
    cause: error,
  });
}

const isAbsence = (error: unknown) => codeOf(error) === "ENOENT";
