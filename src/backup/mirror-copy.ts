import { statSync } from "node:fs";
import { isoTime } from "../base/clock.ts";
import { messageOf, MirrorError } from "../base/errors.ts";
import { hashOf, partsOf } from "../base/files/hashed-file.ts";
import type { ReadableStore } from "../file-store/file-store.ts";
import { openDatabase } from "../store/database.ts";
import { logBytes } from "../store/write-ahead-log.ts";
import { idOfBackup, manifestName, mirrorName, type BackupManifest } from "./content/backup-manifest.ts";
import { readMirrorFacts } from "./content/copy-mirror.ts";

/** Stands for the name of a company, which the file does not say. */
const unnamed = ".";

/**
 * A copy of a mirror that another program made, as a store with one backup, taken when the file was last changed.
 *
 * @throws MirrorError `database` where the file is no mirror, or has a write-ahead log of its own
 */
export function mirrorCopy(file: string): ReadableStore {
  const takenAt = isoTime(statSync(file).mtimeMs);
  return {
    address: file,
    folders: (start) => {
      const names: Record<string, string[]> = { "": [unnamed], [`${unnamed}/`]: [idOfBackup(takenAt)] };
      return Promise.resolve(names[start] ?? []);
    },
    read: async function* (key) {
      if (key.endsWith(`/${manifestName}`))
        yield Buffer.from(JSON.stringify(await manifestOf(file, takenAt)));
      else yield* partsOf(file);
    },
  };
}

async function manifestOf(file: string, taken_at: string): Promise<BackupManifest> {
  if (logBytes(file) > 0)
    throw new MirrorError("database", `the copy has a write-ahead log beside it: ${file}`, {
      hint: "It belongs to the copy. Open it once with the program that made it, so that it is one file.",
    });
  const files = [{ file: mirrorName, ...(await hashOf(file)) }];
  return { format: 1, company: "", number: 1, taken_at, version: "", ...factsOf(file), files };
}

function factsOf(file: string) {
  try {
    const db = openDatabase(file, { readonly: true });
    try {
      return readMirrorFacts(db);
    } finally {
      db.close();
    }
  } catch (error) {
    throw new MirrorError("database", `this is no copy of a mirror: ${messageOf(error)}`, {
      hint: "Name the folder that `backup --to` wrote, or the copied database file of a mirror.",
      cause: error,
    });
  }
}
