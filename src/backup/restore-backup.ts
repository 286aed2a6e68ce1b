import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import path from "node:path";
import { makeFolders, replaceFile, writeFileAtomically } from "../base/files/atomic-file.ts";
import { isoTime, type Clock } from "../base/clock.ts";
import { messageOf, MirrorError, throwIfAborted } from "../base/errors.ts";
import { hashOf, partsOf } from "../base/files/hashed-file.ts";
import type { MirrorFiles } from "../store/mirror-files.ts";
import type { SecretPlace } from "../config/secrets.ts";
import type { ConnectorDeclaration } from "../connector/connector-declaration.ts";
import { fetchChecked, readText, type ReadableStore } from "../file-store/file-store.ts";
import { relinkArchive } from "../files/archive.ts";
import { beginLog, givenBy, noteGiven } from "../state/log-identity.ts";
import { markRestored } from "../state/meta.ts";
import { guarded, inTransaction, openDatabase, readDatabase } from "../store/database.ts";
import { assertReadable, migrate } from "../store/migrations/migrate.ts";
import { logBytes } from "../store/write-ahead-log.ts";
import { takeWriterLock } from "../store/writer-lock.ts";
import { isSameCompany } from "../sync/identity/identify.ts";
import { assertSameMirror, assertSound, freePlace, readMirrorContent } from "./copy-mirror.ts";
import type { MirrorContent } from "./copy-mirror.ts";
import { backupNames, idOfBackup, parseBackupManifest, readBackups } from "./stored-backups.ts";
import type { BackupManifest } from "./stored-backups.ts";

interface RestoreParts {
  readonly company: string;
  /** Where the config's webhook secrets are from, in its order. */
  readonly keyPlaces: readonly SecretPlace[];
  readonly declaration: ConnectorDeclaration;
  readonly store: ReadableStore;
  /** May the only company of the store have another name? */
  readonly anyName: boolean;
  /** Of the backup; null: the last one. */
  readonly id: string | null;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Puts a backup where a company's mirror belongs. The next run of the restored mirror continues none and lists
 * everything. What is there already of webhook keys stays, and so do newer documents and the request budget.
 * `onFile` is called before each file is fetched, with how many are, of how many.
 *
 * Guarantee: everything is checked before anything is touched; then the mirror is replaced by one rename, last. One of
 * another company is never replaced (I10).
 * Source of truth: the backup.
 * Worst outcome of a crash: the earlier mirror, or none, beside documents and keys of the backup; restore it again.
 *
 * @throws MirrorError `locked` while a process writes the mirror or its files, `identity`, `not_found` without a backup, `database`
 */
export async function restoreBackup(
  files: MirrorFiles,
  parts: RestoreParts,
  onFile: (file: string, done: number, of: number) => void,
) {
  const { store, signal } = parts;
  const { folder, id, ids } = await findBackup(parts);
  const address = `${store.address} ${folder}/${id}`;
  const text = await readText(store, `${folder}/${id}/${backupNames.manifest}`, signal);
  const backup = parseBackupManifest(text, address);
  guarded(files.mirror, () => makeFolders(path.dirname(files.mirror)));
  using _ = takeWriterLock(files.lock, "restore");
  try {
    rmSync(files.restoreStaging, { recursive: true, force: true });
    for (const [done, each] of backup.files.entries()) {
      throwIfAborted(signal, "the restore was interrupted: nothing was touched");
      onFile(each.file, done, backup.files.length);
      const damaged = (cause?: unknown) =>
        new MirrorError("database", `the backup is damaged: ${each.file} of ${store.address}`, {
          hint: "It has other bytes than its manifest says. `restore --at` takes an older backup; check the disk.",
          cause,
        });
      const target = path.join(files.restoreStaging, each.file);
      await fetchChecked(store, `${folder}/${id}/${each.file}`, each, target, signal, damaged);
    }
    return { id, ids, backup, replaced: replaceMirror(files, parts, backup, address) };
  } finally {
    rmSync(files.restoreStaging, { recursive: true, force: true });
  }
}

/** The backup, and the name that its company had. A store with one company may be restored under another name. */
async function findBackup({ company, store, anyName, id, signal }: RestoreParts) {
  const companies = (await store.folders("", signal)).filter((name) => name === "." || !name.startsWith("."));
  const only = anyName && companies.length === 1 ? companies[0] : undefined;
  const folder = companies.includes(company) ? company : (only ?? company);
  const { ids } = await readBackups(store, folder, signal);
  const found = id === null ? ids.at(-1) : ids.find((each) => each === id);
  if (found !== undefined) return { folder, id: found, ids };
  const which = id === null || ids.length === 0 ? "" : ` of ${id}`;
  throw new MirrorError("not_found", `there is no backup${which} of ${company} in ${store.address}`, {
    hint:
      ids.length > 0
        ? `There are: ${ids.join(", ")}`
        : "Name the folder that `backup --to` wrote: it holds one folder for each company.",
  });
}

/** Puts what was fetched where it belongs. Was there a mirror? */
function replaceMirror(files: MirrorFiles, parts: RestoreParts, backup: BackupManifest, address: string) {
  using _ = takeWriterLock(files.folderLock, "restore", `the folder ${files.folder}`);
  prepareMirror(files, parts, backup, address);
  const replaced = existsSync(files.mirror);
  for (const { file } of backup.files) putFile(files, parts.keyPlaces, file);
  relinkArchive(files.folder);
  // What the last `verify` found was about another state of the mirror.
  for (const each of [files.verified, files.compared]) rmSync(each, { force: true });
  // Another program may have opened it since: its write-ahead log would be taken for the new one's.
  freePlace(files.mirror, () => undefined);
  replaceFile(path.join(files.restoreStaging, backupNames.mirror), files.mirror);
  return replaced;
}

/** Checks the staged mirror, and makes it ready; then makes sure that the one there may be replaced. */
function prepareMirror(files: MirrorFiles, parts: RestoreParts, backup: BackupManifest, address: string) {
  const { declaration, company, clock } = parts;
  using db = openDatabase(path.join(files.restoreStaging, backupNames.mirror));
  assertReadable(db);
  assertSound(db);
  assertSameMirror(backup, readMirrorContent(db), address);
  freePlace(files.mirror, (there) => {
    if (isSameCompany({ db: there, declaration }, { db, declaration }))
      return noteGiven(files.mirror, givenBy(there));
    const { name = "?" } = backup.identity ?? {};
    const what = `the backup is of another company ("${name}") than the mirror of ${company}`;
    throw new MirrorError("identity", what, {
      hint: "Nothing was touched. If it is right all the same, move the mirror's file away and restore again.",
    });
  });
  guarded(db.name, () => migrate(db));
  const nowMs = clock.nowMs();
  markRestored(db, nowMs, backup.taken_at);
  inTransaction(db, () => beginLog(db, files.mirror, nowMs));
  db.pragma("journal_mode = DELETE");
}

/** Puts a staged document or key where it belongs, unless there is one. The mirror is put last. */
function putFile(files: MirrorFiles, keyPlaces: RestoreParts["keyPlaces"], file: string): void {
  const staged = path.join(files.restoreStaging, file);
  if (file.startsWith(backupNames.documents)) {
    const target = path.join(files.folder, file.slice(backupNames.documents.length));
    if (existsSync(target)) return;
    makeFolders(path.dirname(target));
    return replaceFile(staged, target);
  }
  const index = keyPlaces.findIndex((_, position) => backupNames.key(position) === file);
  const place = keyPlaces[index];
  const target =
    file === backupNames.retiredKeys ? files.secrets : place?.kind === "file" ? place.path : null;
  if (target === null || existsSync(target)) return;
  // It may be on another file system.
  makeFolders(path.dirname(target));
  writeFileAtomically(target, readFileSync(staged), 0o600);
}

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
    folders: async (start) =>
      start === "" ? [unnamed] : start === `${unnamed}/` ? [idOfBackup(takenAt)] : [],
    read: async function* (key) {
      if (key.endsWith(`/${backupNames.manifest}`))
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
  let content: MirrorContent;
  try {
    content = readDatabase(file, readMirrorContent);
  } catch (error) {
    throw new MirrorError("database", `this is no copy of a mirror: ${messageOf(error)}`, {
      hint: "Name the folder that `backup --to` wrote, or the copied database file of a mirror.",
      cause: error,
    });
  }
  const files = [{ file: backupNames.mirror, ...(await hashOf(file)) }];
  return { format: 1, company: "", number: 1, taken_at, version: "", ...content, files };
}
