import { existsSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { makeFolders, replaceFile, writeFileAtomically } from "../base/atomic-file.ts";
import { throwIfAborted } from "../base/cancellation.ts";
import type { Clock } from "../base/clock.ts";
import { MirrorError } from "../base/errors.ts";
import type { MirrorFiles } from "../config/mirror-files.ts";
import type { SecretPlace } from "../config/secrets.ts";
import type { Manifest } from "../connector/connector-manifest.ts";
import { fetchChecked, readText, type ReadableStore } from "../file-store/file-store.ts";
import { relinkArchive } from "../files/archive.ts";
import { beginLog, givenBy, markRestored, noteGiven } from "../state/meta.ts";
import { guarded, inTransaction, openDatabase } from "../store/database.ts";
import { assertReadable, migrate } from "../store/migrations/migrate.ts";
import { takeWriterLock } from "../store/writer-lock.ts";
import { isSameCompany } from "../sync/identity/identify.ts";
import {
  documentsPrefix,
  keyName,
  manifestName,
  mirrorName,
  parseBackupManifest,
  retiredKeysName,
  type BackupManifest,
} from "./content/backup-manifest.ts";
import { assertSameMirror, assertSound, readMirrorFacts } from "./content/copy-mirror.ts";
import { freePlace } from "./content/free-place.ts";
import { readBackups } from "./stored-backups.ts";

export interface RestoreParts {
  readonly company: string;
  readonly files: MirrorFiles;
  /** Where the config's webhook secrets are from, in its order. */
  readonly keyPlaces: readonly SecretPlace[];
  readonly manifest: Manifest;
  readonly store: ReadableStore;
  /** May the only company of the store have another name? */
  readonly anyName: boolean;
  /** Of the backup; null: the last one. */
  readonly id: string | null;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export interface RestoreResult {
  readonly id: string;
  readonly backup: BackupManifest;
  /** Was there a mirror before? */
  readonly replaced: boolean;
}

/**
 * Puts a backup where a company's mirror belongs. The next run of the restored mirror continues none and lists
 * everything. What is there already of webhook keys stays, and so do newer documents and the request budget.
 *
 * Guarantee: everything is checked before anything is touched; then the mirror is replaced by one rename, last. One of
 * another company is never replaced (I10).
 * Source of truth: the backup.
 * Worst outcome of a crash: the earlier mirror, or none, beside documents and keys of the backup; restore it again.
 *
 * @throws MirrorError `locked` while a process writes the mirror, `identity`, `not_found` without a backup, `database`
 */
export async function restoreBackup(parts: RestoreParts): Promise<RestoreResult> {
  const { files, store, signal } = parts;
  const { folder, id } = await findBackup(parts);
  const address = `${store.address} ${folder}/${id}`;
  const text = await readText(store, `${folder}/${id}/${manifestName}`, signal);
  const backup = parseBackupManifest(text ?? "", address);
  guarded(files.mirror, () => makeFolders(path.dirname(files.mirror)));
  const lock = takeWriterLock(files.lock, "restore");
  try {
    rmSync(files.restoreStaging, { recursive: true, force: true });
    await fetchFiles(parts, `${folder}/${id}/`, backup);
    prepareMirror(parts, backup, address);
    const replaced = existsSync(files.mirror);
    for (const { file } of backup.files) putFile(parts, file);
    relinkArchive(files.folder);
    // What the last `verify` found was about another state of the mirror.
    for (const each of [files.verified, files.compared]) rmSync(each, { force: true });
    replaceFile(path.join(files.restoreStaging, mirrorName), files.mirror);
    return { id, backup, replaced };
  } finally {
    rmSync(files.restoreStaging, { recursive: true, force: true });
    lock.release();
  }
}

/** The backup, and the name that its company had. A store with one company may be restored under another name. */
async function findBackup({
  company,
  store,
  anyName,
  id,
  signal,
}: RestoreParts): Promise<{ readonly folder: string; readonly id: string }> {
  const companies = (await store.folders("", signal)).filter((name) => name === "." || !name.startsWith("."));
  const only = anyName && companies.length === 1 ? companies[0] : undefined;
  const folder = companies.includes(company) ? company : (only ?? company);
  const { ids } = await readBackups(store, folder, signal);
  const found = id === null ? ids.at(-1) : ids.find((each) => each === id);
  if (found !== undefined) return { folder, id: found };
  const which = id === null || ids.length === 0 ? "" : ` of ${id}`;
  throw new MirrorError("not_found", `there is no backup${which} of ${company} in ${store.address}`, {
    hint:
      ids.length > 0
        ? `There are: ${ids.join(", ")}`
        : "Name the folder that `backup --to` wrote: it holds one folder for each company.",
  });
}

async function fetchFiles(
  { store, files, signal }: RestoreParts,
  folder: string,
  backup: BackupManifest,
): Promise<void> {
  for (const each of backup.files) {
    throwIfAborted(signal, "the restore was interrupted: nothing was touched");
    const damaged = (cause?: unknown) =>
      new MirrorError("database", `the backup is damaged: ${each.file} of ${store.address}`, {
        hint: "It has other bytes than its manifest says. `restore --at` takes an older backup; check the disk.",
        cause,
      });
    const target = path.join(files.restoreStaging, each.file);
    await fetchChecked(store, folder + each.file, each, target, signal, damaged);
  }
}

/** Checks the staged mirror, and makes it ready; then makes sure that the one there may be replaced. */
function prepareMirror(
  { files, manifest, company, clock }: RestoreParts,
  backup: BackupManifest,
  address: string,
): void {
  const db = openDatabase(path.join(files.restoreStaging, mirrorName));
  try {
    assertReadable(db);
    assertSound(db);
    assertSameMirror(backup, readMirrorFacts(db), address);
    freePlace(files.mirror, (there) => {
      if (isSameCompany({ db: there, manifest }, { db, manifest }))
        return noteGiven(files.mirror, givenBy(there));
      const { name = "?" } = backup.identity ?? {};
      const what = `the backup is of another company ("${name}") than the mirror of ${company}`;
      throw new MirrorError("identity", what, {
        hint: "Nothing was touched. If it is right all the same, move the mirror's file away and restore again.",
      });
    });
    guarded(db.name, () => migrate(db));
    const nowMs = clock.nowMs();
    markRestored(db, { nowMs, takenAt: backup.taken_at });
    inTransaction(db, () => beginLog(db, files.mirror, nowMs));
    db.pragma("journal_mode = DELETE");
  } finally {
    db.close();
  }
}

/** Puts a staged document or key where it belongs, unless there is one. The mirror is put last. */
function putFile({ files, keyPlaces }: RestoreParts, file: string): void {
  const staged = path.join(files.restoreStaging, file);
  if (file.startsWith(documentsPrefix)) {
    const target = path.join(files.folder, file.slice(documentsPrefix.length));
    if (existsSync(target)) return;
    makeFolders(path.dirname(target));
    return replaceFile(staged, target);
  }
  const index = keyPlaces.findIndex((_, position) => keyName(position) === file);
  const place = keyPlaces[index];
  const target = file === retiredKeysName ? files.secrets : place?.kind === "file" ? place.path : null;
  if (target === null || existsSync(target)) return;
  // It may be on another file system.
  makeFolders(path.dirname(target));
  writeFileAtomically(target, readFileSync(staged), 0o600);
}
