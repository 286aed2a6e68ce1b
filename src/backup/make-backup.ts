import { existsSync, rmSync } from "node:fs";
import path from "node:path";
import { makeFolders } from "../base/files/atomic-file.ts";
import { dayMs, isoTime, type Clock } from "../base/clock.ts";
import { throwIfAborted } from "../base/errors.ts";
import { manifestText, writeNewFile } from "../base/files/hashed-file.ts";
import type { MirrorFiles } from "../store/mirror-files.ts";
import type { SecretPlace } from "../config/secrets.ts";
import { ownRight, putChecked } from "../file-store/file-store.ts";
import type { FileStore, ReadableStore } from "../file-store/file-store.ts";
import { manifestName as archiveManifestName, objectPath } from "../files/archive.ts";
import { contentsOf, readArchiveManifest } from "../files/archive-manifest.ts";
import { readFile } from "../files/published-files.ts";
import { assertThere } from "../store/database.ts";
import { takeWriterLock } from "../store/writer-lock.ts";
import { copyMirror } from "./copy-mirror.ts";
import { backupNames, idOfBackup, readBackups } from "./stored-backups.ts";
import type { BackupFile, BackupManifest } from "./stored-backups.ts";

interface BackupParts {
  /** Where the config's webhook secrets are from, in its order; null: webhook keys are left out. */
  readonly keyPlaces: readonly SecretPlace[] | null;
  readonly store: FileStore;
  /** Where the contents of files are; null: in the company's folder. */
  readonly contents: ReadableStore | null;
  /** How many of the company's backups stay; null: all. */
  readonly keep: number | null;
  readonly clock: Clock;
  readonly version: string;
  readonly signal: AbortSignal;
  /** Before each file, with how many are stored. */
  readonly onFile: (file: string, done: number) => void;
}

/**
 * Makes a backup of one company beside its writer: mirror, webhook keys, PDFs and attachments. The token is not in it.
 *
 * Guarantee: a backup that has a manifest is whole, read back and kept. Earlier ones are removed after that, the new one never.
 * Source of truth: the mirror; documents that its copy names were there before it.
 * Worst outcome of a crash: files without a manifest, until a backup of the company a day later.
 *
 * @throws MirrorError `locked` where another process makes one, `database`, `stopped`, and those of the store
 */
export async function makeBackup(
  company: string,
  files: MirrorFiles,
  { keyPlaces, store, contents, keep, clock, version, signal, onFile }: BackupParts,
) {
  assertThere(files.mirror, `there is no mirror of ${company} to back up`);
  using _ = takeWriterLock(files.backupLock, "backup", `the backup of ${company}`);
  const right = ownRight(signal);
  const remove = async (id: string) => {
    // The manifest first: it never stands for files that are gone.
    for (const what of [backupNames.manifest, ""]) await store.remove(`${company}/${id}/${what}`, right);
  };
  try {
    rmSync(files.backupStaging, { recursive: true, force: true });
    const { ids, lastNumber, unfinished } = await readBackups(store, company, signal);
    let takenAtMs = clock.nowMs();
    // What is younger may be one that another node of a fleet is making.
    const leftBefore = idOfBackup(isoTime(takenAtMs - dayMs));
    for (const left of unfinished) if (left < leftBefore) await remove(left);
    while ([...ids, ...unfinished].includes(idOfBackup(isoTime(takenAtMs)))) takenAtMs++;
    const taken_at = isoTime(takenAtMs);
    const id = idOfBackup(taken_at);
    const storeAll = async (): Promise<BackupManifest> => {
      const mirror = path.join(files.backupStaging, backupNames.mirror);
      makeFolders(files.backupStaging);
      const content = await copyMirror(files.mirror, mirror, signal);
      const stored: BackupFile[] = [];
      for await (const [file, source] of sourcesOf(mirror, files, keyPlaces, contents, signal)) {
        throwIfAborted(signal, "the backup was interrupted; earlier ones are kept");
        onFile(file, stored.length);
        try {
          stored.push({ file, ...(await putChecked(store, `${company}/${id}/${file}`, source, right)) });
        } catch (error) {
          // What is not there any more is left out.
          if (existsSync(source)) throw error;
        }
      }
      const head = { format: 1, company, number: lastNumber + 1, taken_at, version } as const;
      const manifest = { ...head, ...content, files: stored };
      await store.put(`${company}/${id}/${backupNames.manifest}`, Buffer.from(manifestText(manifest)), right);
      return manifest;
    };
    const manifest = await storeAll().catch(async (error: unknown) => {
      await remove(id).catch(() => undefined);
      throw error;
    });
    // One that nothing was read into yet stands for no earlier one.
    const isTidied = keep !== null && manifest.identity !== null;
    const removed = isTidied ? ids.slice(0, Math.max(0, ids.length + 1 - keep)) : [];
    for (const old of removed) await remove(old);
    return { id, ids, manifest, removed };
  } finally {
    rmSync(files.backupStaging, { recursive: true, force: true });
  }
}

/** Files by their names in the backup. The archive's manifest before what it names: files are only ever added. */
async function* sourcesOf(
  mirror: string,
  { secrets, folder, backupStaging }: MirrorFiles,
  keyPlaces: BackupParts["keyPlaces"],
  contents: BackupParts["contents"],
  signal: AbortSignal,
): AsyncGenerator<readonly [file: string, source: string]> {
  yield [backupNames.mirror, mirror];
  rmSync(mirror);
  if (keyPlaces) yield [backupNames.retiredKeys, secrets];
  for (const [index, from] of (keyPlaces ?? []).entries())
    if (from.kind === "file") yield [backupNames.key(index), from.path];
  const manifest = path.join(folder, archiveManifestName);
  yield [backupNames.documents + archiveManifestName, manifest];
  const staged = path.join(backupStaging, "content");
  for (const file of contentsOf(readArchiveManifest(manifest).entries)) {
    const object = objectPath(file.sha256);
    if (contents) await writeNewFile(staged, readFile(folder, contents, file, signal), 0o600);
    yield [backupNames.documents + object, contents ? staged : path.join(folder, object)];
  }
}
