import { existsSync, rmSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { makeFolders } from "../base/atomic-file.ts";
import { throwIfAborted } from "../base/cancellation.ts";
import { isoTime, type Clock } from "../base/clock.ts";
import { MirrorError } from "../base/errors.ts";
import type { MirrorFiles } from "../config/mirror-files.ts";
import type { SecretPlace } from "../config/secrets.ts";
import { ownRight, putChecked, type FileStore } from "../file-store/file-store.ts";
import { manifestName as archiveManifestName, objectsName } from "../files/archive.ts";
import { takeWriterLock } from "../store/writer-lock.ts";
import {
  documentsPrefix,
  idOfBackup,
  keyName,
  manifestName,
  mirrorName,
  retiredKeysName,
  type BackupFile,
  type BackupManifest,
} from "./content/backup-manifest.ts";
import { copyMirror } from "./content/copy-mirror.ts";
import { readBackups, removeBackup } from "./stored-backups.ts";

export interface BackupParts {
  readonly company: string;
  readonly files: MirrorFiles;
  /** Where the config's webhook secrets are from, in its order. */
  readonly keyPlaces: readonly SecretPlace[];
  /** False: webhook keys are left out. */
  readonly withKeys: boolean;
  readonly store: FileStore;
  /** How many of the company's backups stay; null: all. */
  readonly keep: number | null;
  readonly clock: Clock;
  /** Of this program. */
  readonly version: string;
  readonly signal: AbortSignal;
}

export interface BackupResult {
  readonly id: string;
  readonly manifest: BackupManifest;
  /** All its files together. */
  readonly bytes: number;
  /** Names of earlier backups that were removed. */
  readonly removed: readonly string[];
}

/**
 * Makes a backup of one company beside its writer: mirror, webhook keys, PDFs and attachments. The token is not in it.
 *
 * Guarantee: a backup that has a manifest is whole, read back and kept. Earlier ones are removed after that, the new one never.
 * Source of truth: the mirror; documents that its copy names were there before it.
 * Worst outcome of a crash: files without a manifest, until the next backup of the company.
 *
 * @throws MirrorError `locked` where another process makes one, `database`, `stopped`, and those of the store
 */
export async function makeBackup(parts: BackupParts): Promise<BackupResult> {
  const { company, files, store, keep, clock } = parts;
  if (!existsSync(files.mirror))
    throw new MirrorError("database", `there is no mirror of ${company} to back up: ${files.mirror}`, {
      hint: "Run `fintoro-mirror sync` first.",
    });
  const lock = takeWriterLock(files.backupLock, "backup", `the backup of ${company}`);
  const right = ownRight(parts.signal);
  const folderOf = (id: string) => `${company}/${id}/`;
  try {
    rmSync(files.backupStaging, { recursive: true, force: true });
    const { ids, lastNumber, unfinished } = await readBackups(store, company, parts.signal);
    for (const left of unfinished) await removeBackup(store, folderOf(left), right);
    let takenAtMs = clock.nowMs();
    while (ids.includes(idOfBackup(isoTime(takenAtMs)))) takenAtMs++;
    const takenAt = isoTime(takenAtMs);
    const id = idOfBackup(takenAt);
    const manifest = await storeBackup(parts, folderOf(id), takenAt, lastNumber + 1).catch(
      async (error: unknown) => {
        await removeBackup(store, folderOf(id), right).catch(() => undefined);
        throw error;
      },
    );
    const bytes = manifest.files.reduce((sum, { size_bytes: size }) => sum + size, 0);
    // One that nothing was read into yet stands for no earlier one.
    const removed =
      keep === null || manifest.identity === null ? [] : ids.slice(0, Math.max(0, ids.length + 1 - keep));
    for (const old of removed) await removeBackup(store, folderOf(old), right);
    return { id, manifest, bytes, removed };
  } finally {
    rmSync(files.backupStaging, { recursive: true, force: true });
    lock.release();
  }
}

/** Stores all files of a backup, the manifest last. */
async function storeBackup(
  { store, files, signal, ...parts }: BackupParts,
  folder: string,
  taken_at: string,
  number: number,
): Promise<BackupManifest> {
  const { company, version } = parts;
  const right = ownRight(signal);
  const stored: BackupFile[] = [];
  const put = async (sources: Sources) => {
    for (const [file, source] of sources) {
      throwIfAborted(signal, "the backup was interrupted; earlier ones are kept");
      try {
        stored.push({ file, ...(await putChecked(store, folder + file, source, right)) });
      } catch (error) {
        // What is not there any more is left out.
        if (existsSync(source)) throw error;
      }
    }
  };
  const mirror = path.join(files.backupStaging, mirrorName);
  makeFolders(files.backupStaging);
  const facts = await copyMirror(files.mirror, mirror, signal);
  await put([[mirrorName, mirror]]);
  rmSync(mirror);
  await put(keyFiles(files, parts));
  // The manifest before what it names: files are only ever added.
  await put([[documentsPrefix + archiveManifestName, path.join(files.folder, archiveManifestName)]]);
  await put(await documentFiles(files.folder));
  const manifest: BackupManifest = {
    format: 1,
    company,
    number,
    taken_at,
    version,
    ...facts,
    files: stored,
  };
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  await store.put(folder + manifestName, Buffer.from(text), right);
  return manifest;
}

/** Files by their names in the backup. */
type Sources = readonly (readonly [file: string, source: string])[];

function keyFiles(
  { secrets }: MirrorFiles,
  { keyPlaces, withKeys }: Pick<BackupParts, "keyPlaces" | "withKeys">,
): Sources {
  if (!withKeys) return [];
  const configured = keyPlaces.flatMap((from, index) =>
    from.kind === "file" ? [[keyName(index), from.path] as const] : [],
  );
  return [[retiredKeysName, secrets], ...configured];
}

async function documentFiles(folder: string): Promise<Sources> {
  if (!existsSync(folder)) return [];
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.flatMap((entry) => {
    const source = path.join(entry.parentPath, entry.name);
    const name = path.relative(folder, source).split(path.sep).join("/");
    const isCopied = entry.isFile() && name !== archiveManifestName && !isRemade(name, source);
    return isCopied ? [[documentsPrefix + name, source] as const] : [];
  });
}

/** Is it a link to a content that is in the backup? A restore makes it again. */
function isRemade(name: string, source: string): boolean {
  return !name.startsWith(`${objectsName}/`) && (statSync(source, { throwIfNoEntry: false })?.nlink ?? 1) > 1;
}
