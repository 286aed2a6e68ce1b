import { createReadStream, existsSync } from "node:fs";
import { readdir, readFile, rename, rm } from "node:fs/promises";
import path from "node:path";
import { makeFolders, syncToDisk } from "../../base/atomic-file.ts";
import { hashOf } from "../../base/files/hashed-file.ts";
import { assertSameFile, isBackupId, manifestName, type BackupManifest } from "../content/backup-manifest.ts";
import type { BackupPlace } from "./backup-place.ts";

/** Unfinished backups, and those about to be removed: no name of a backup. */
const unfinishedPrefix = ".unfinished-";

/**
 * Backups in a folder: `<folder>/<company>/<id>/`. Folders 0700, files 0600: they hold accounting data and webhook keys.
 *
 * Guarantee: a folder with the name of a backup holds all of it, on the disk and checked.
 * Source of truth: the names of the folders.
 * Worst outcome of a crash: a folder `.unfinished-…` until the next backup of the company.
 */
export function folderPlace(folder: string): BackupPlace {
  const ofCompany = (company: string) => path.join(folder, company);
  const placeOf = (company: string, id: string) => path.join(ofCompany(company), id);
  const unfinished = (company: string, id: string) => placeOf(company, unfinishedPrefix + id);
  return {
    address: folder,
    companies: () => foldersIn(folder, (name) => !name.startsWith(".")),
    list: async (company) => (await foldersIn(ofCompany(company), isBackupId)).toSorted(),
    prepare: async (company, id) => {
      const left = await foldersIn(ofCompany(company), (name) => name.startsWith(unfinishedPrefix));
      for (const name of left) await rm(placeOf(company, name), { recursive: true });
      makeFolders(unfinished(company, id));
      return unfinished(company, id);
    },
    commit: async (company, id, draft, manifest) => {
      await syncFolder(draft);
      await checkFolder(draft, manifest);
      await rename(draft, placeOf(company, id));
      for (const each of [ofCompany(company), folder]) syncToDisk(each);
    },
    discard: (draft) => rm(draft, { recursive: true, force: true }),
    readManifest: (company, id) => readFile(path.join(placeOf(company, id), manifestName), "utf8"),
    read: (company, id, { file }) => createReadStream(path.join(placeOf(company, id), file)),
    remove: async (company, id) => {
      await rename(placeOf(company, id), unfinished(company, id));
      await rm(unfinished(company, id), { recursive: true });
    },
  };
}

/** Empty where there is no such folder. */
async function foldersIn(folder: string, isWanted: (name: string) => boolean): Promise<string[]> {
  if (!existsSync(folder)) return [];
  const entries = await readdir(folder, { withFileTypes: true });
  return entries.flatMap((entry) => (entry.isDirectory() && isWanted(entry.name) ? [entry.name] : []));
}

/** Files first, then the lists of names that lead to them. */
async function syncFolder(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const place = path.join(folder, entry.name);
    if (entry.isDirectory()) await syncFolder(place);
    else syncToDisk(place);
  }
  syncToDisk(folder);
}

/** Reads every file again. */
async function checkFolder(folder: string, { files }: BackupManifest): Promise<void> {
  for (const each of files) assertSameFile(each, await hashOf(path.join(folder, each.file)), folder);
}
