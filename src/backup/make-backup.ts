import { existsSync, statSync, writeFileSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import path from "node:path";
import { throwIfAborted } from "../base/cancellation.ts";
import { hashOf, partsOf, writeNewFile } from "../base/files/hashed-file.ts";
import { isoTime, type Clock } from "../base/clock.ts";
import { MirrorError } from "../base/errors.ts";
import type { MirrorFiles } from "../config/mirror-files.ts";
import type { SecretPlace } from "../config/secrets.ts";
import { manifestName as archiveManifestName, objectsName } from "../files/archive.ts";
import { takeWriterLock } from "../store/writer-lock.ts";
import {
  assertSameFile,
  documentsPrefix,
  idOfBackup,
  keyName,
  manifestName,
  mirrorName,
  retiredKeysName,
  type BackupFile,
  type BackupManifest,
} from "./content/backup-manifest.ts";
import { readBackupOrder } from "./backup-order.ts";
import { copyMirror } from "./content/copy-mirror.ts";
import type { BackupPlace } from "./places/backup-place.ts";

export interface BackupParts {
  readonly company: string;
  readonly files: MirrorFiles;
  /** Where the config's webhook secrets are from, in its order. */
  readonly keyPlaces: readonly SecretPlace[];
  /** False: webhook keys are left out. */
  readonly withKeys: boolean;
  readonly place: BackupPlace;
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
 * Guarantee: under its final name a backup is whole, checked and on the disk. Earlier ones are removed after that, the new one never.
 * Source of truth: the mirror; documents that its copy names were there before it.
 * Worst outcome of a crash: an unfinished backup, under another name, until the next one.
 *
 * @throws MirrorError `locked` where another process makes one, `database`, `stopped`, and those of the object store
 */
export async function makeBackup(parts: BackupParts): Promise<BackupResult> {
  const { company, files, place, keep } = parts;
  if (!existsSync(files.mirror))
    throw new MirrorError("database", `there is no mirror of ${company} to back up: ${files.mirror}`, {
      hint: "Run `fintoro-mirror sync` first.",
    });
  const lock = takeWriterLock(files.backupLock, "backup", `the backup of ${company}`);
  try {
    const { ids, lastNumber } = await readBackupOrder(place, company);
    const takenAt = isoTime(parts.clock.nowMs());
    const id = idOfBackup(takenAt);
    const folder = await place.prepare(company, id);
    try {
      const manifest = await fillFolder(parts, folder, { takenAt, number: lastNumber + 1 });
      await place.commit(company, id, folder, manifest);
      const bytes = manifest.files.reduce((sum, { size_bytes: size }) => sum + size, 0);
      // One that nothing was read into yet stands for no earlier one.
      const removed =
        keep === null || manifest.identity === null ? [] : ids.slice(0, Math.max(0, ids.length + 1 - keep));
      for (const old of removed) await place.remove(company, old);
      return { id, manifest, bytes, removed };
    } catch (error) {
      await place.discard(folder);
      throw error;
    }
  } finally {
    lock.release();
  }
}

/** Writes all files of a backup, the manifest last. */
async function fillFolder(
  parts: BackupParts,
  folder: string,
  { takenAt, number }: { readonly takenAt: string; readonly number: number },
): Promise<BackupManifest> {
  const { company, files, version, signal } = parts;
  const mirror = path.join(folder, mirrorName);
  const facts = await copyMirror(files.mirror, mirror, signal);
  const copied: BackupFile[] = [{ file: mirrorName, ...(await hashOf(mirror)) }];
  const copyAll = async (sources: Sources) => {
    for (const [file, source] of sources) {
      throwIfAborted(signal, "the backup was interrupted; earlier ones are kept");
      const each = await copyFile(folder, file, source);
      if (each) copied.push(each);
    }
  };
  await copyAll(keyFiles(parts));
  // The manifest before what it names: files are only ever added.
  await copyAll([[documentsPrefix + archiveManifestName, path.join(files.folder, archiveManifestName)]]);
  await copyAll(await documentFiles(files.folder));
  const manifest: BackupManifest = {
    format: 1,
    company,
    number,
    taken_at: takenAt,
    version,
    ...facts,
    files: copied,
  };
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  writeFileSync(path.join(folder, manifestName), text, { mode: 0o600, flag: "wx" });
  return manifest;
}

/** Files by their names in the backup. */
type Sources = readonly (readonly [file: string, source: string])[];

function keyFiles({ files, keyPlaces, withKeys }: BackupParts): Sources {
  if (!withKeys) return [];
  const configured = keyPlaces.flatMap((from, index) =>
    from.kind === "file" ? [[keyName(index), from.path] as const] : [],
  );
  return [[retiredKeysName, files.secrets], ...configured];
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

/** Null: the file is not there, or not any more. */
async function copyFile(folder: string, file: string, source: string): Promise<BackupFile | null> {
  const target = path.join(folder, file);
  const written = await writeNewFile(target, partsOf(source), 0o600).catch(async (error: unknown) => {
    if (existsSync(source)) throw error;
    await rm(target, { force: true });
    return null;
  });
  if (written === null) return null;
  assertSameFile({ file, ...written }, await hashOf(target), folder);
  return { file, ...written };
}
