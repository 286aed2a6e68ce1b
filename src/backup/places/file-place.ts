import { createReadStream, statSync } from "node:fs";
import { isoTime } from "../../base/clock.ts";
import { messageOf, MirrorError } from "../../base/errors.ts";
import { openDatabase } from "../../store/database.ts";
import { hashOf } from "../../base/files/hashed-file.ts";
import { idOfBackup, mirrorName, type BackupManifest } from "../content/backup-manifest.ts";
import { readMirrorFacts } from "../content/copy-mirror.ts";
import { logBytes } from "../../store/write-ahead-log.ts";
import type { BackupSource } from "./backup-place.ts";

/** Stands for the name of a company, which the file does not say. */
const unnamed = ".";

/**
 * A copy of a mirror that another program made, as a place with one backup, taken when the file was last changed. It can
 * only be restored.
 *
 * @throws MirrorError `database` where the file is no mirror, or has a write-ahead log of its own
 */
export function filePlace(file: string): BackupSource {
  const takenAt = isoTime(statSync(file).mtimeMs);
  return {
    address: file,
    companies: () => Promise.resolve([unnamed]),
    list: (company) => Promise.resolve(company === unnamed ? [idOfBackup(takenAt)] : []),
    readManifest: async () => {
      if (logBytes(file) > 0)
        throw new MirrorError("database", `the copy has a write-ahead log beside it: ${file}`, {
          hint: "It belongs to the copy. Open it once with the program that made it, so that it is one file.",
        });
      const facts = factsOf(file);
      const files = [{ file: mirrorName, ...(await hashOf(file)) }];
      const manifest: BackupManifest = {
        format: 1,
        company: "",
        number: 1,
        taken_at: takenAt,
        version: "",
        ...facts,
        files,
      };
      return JSON.stringify(manifest);
    },
    read: () => createReadStream(file),
  };
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
