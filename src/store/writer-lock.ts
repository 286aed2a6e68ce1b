import Database from "better-sqlite3";
import { existsSync, rmSync, statSync, writeFileSync } from "node:fs";
import { MirrorError } from "../base/errors.ts";
import { readJsonFile } from "../base/files/atomic-file.ts";
import { databaseError, isBusy, withFault } from "./database.ts";

/**
 * The lock of the one process that writes a mirror.
 *
 * Guarantee: one holder at a time. The operating system's lock behind an exclusive SQLite transaction on a file of
 * its own ends with the process, however it ends.
 * Source of truth: that lock; the note beside the file only says to people who holds it.
 * Worst outcome of a crash: a note without a lock, which nobody reads.
 */
export interface WriterLock {
  /** Is the locked file still there? Where it was removed or replaced, another process can lock the new one. */
  isHeld(): boolean;
  /** Why it is not held, where the reason is not the file. Null: there is no other one. */
  readonly lostBecause?: () => string | null;
  readonly path: string;
  release(): void;
}

/** Longer than `lockHolder` takes, and too short for a person to notice. */
const busyTimeoutMs = 250;

/**
 * Takes the lock. Throws MirrorError `locked` where another process holds it, `database` where the file fails, or
 * where root is about to write what belongs to another user.
 *
 * @param guarded what only one may write, for the error's message
 */
export function takeWriterLock(
  path: string,
  command: string,
  guarded = "the mirror",
): WriterLock & Disposable & { remove(): void } {
  const note = `${path}.holder`;
  refuseForRoot(path);
  let db: Database.Database | null = null;
  let file = "";
  const isHeld = () => fileAt(path) === file;
  try {
    db = new Database(path, { timeout: busyTimeoutMs });
    file = fileAt(path);
    db.pragma("journal_mode = DELETE");
    db.exec("BEGIN EXCLUSIVE");
    writeFileSync(note, JSON.stringify({ pid: process.pid, command, since: new Date().toISOString() }));
    // Who waits for a lock that is removed makes another one.
    const release = (files = [note]) => {
      for (const one of isHeld() ? files : []) rmSync(one, { force: true });
      db?.close();
    };
    return { isHeld, path, release, remove: () => release([note, path]), [Symbol.dispose]: release };
  } catch (error) {
    db?.close();
    // Who held it may have removed the file meanwhile.
    if (isBusy(error) || (db && !isHeld())) {
      throw new MirrorError("locked", `${guarded} is being written by ${readHolder(note).description}`, {
        hint: "Wait until it ends, or stop it; two writers would overwrite each other's work.",
        retryable: true,
        cause: error,
      });
    }
    throw lockFileError(path, error);
  }
}

function lockFileError(path: string, error: unknown): unknown {
  const known = databaseError(path, error);
  if (known instanceof MirrorError && known.retryable) return known;
  const advice = "Check that the folder exists, and the owner and mode of the file and its folder.";
  return new MirrorError("database", `the lock file cannot be used: ${path}`, {
    hint: withFault(advice, path),
    cause: error,
  });
}

/**
 * What root makes beside the files of the daemon's user, the daemon could not open. Where all files are root's, as in a
 * container with a folder of its host, root goes on.
 */
function refuseForRoot(path: string): void {
  if (process.geteuid?.() !== 0) return;
  const owner = statSync(path, { throwIfNoEntry: false })?.uid ?? 0;
  if (owner === 0) return;
  const message = `root does not write beside ${path}, which belongs to user ${owner}: that user could not open what root makes`;
  throw new MirrorError("database", message, { hint: `Run it as that user: sudo -u '#${owner}' …` });
}

/** Throws MirrorError `locked` where the lock is not held any more: another process may write the mirror. */
export function assertHeld(lock: WriterLock): void {
  if (lock.isHeld()) return;
  const because = lock.lostBecause?.() ?? null;
  if (because !== null) throw new MirrorError("locked", because, { retryable: true });
  const message = `another process may write the mirror, because its lock file was removed or replaced: ${lock.path}`;
  throw new MirrorError("locked", message, {
    hint: "Nothing was written since. Run it again, and remove no lock file: it locks nothing once its process has ended.",
    retryable: true,
  });
}

/** Identifies the file behind a name. To open and close it would end this process's lock on it. */
export function fileAt(path: string): string {
  const { dev, ino } = statSync(path, { throwIfNoEntry: false }) ?? {};
  return `${dev} ${ino}`;
}

/** The process that holds a lock; without its facts where its note cannot be read. */
export interface LockHolder {
  readonly description: string;
  readonly pid?: number;
  readonly command?: string;
  readonly since?: string;
}

/** Who holds the lock; null: nobody. Neither takes the lock nor makes its file. Throws MirrorError `database`. */
export function lockHolder(path: string): LockHolder | null {
  if (!existsSync(path)) return null;
  let db: Database.Database | null = null;
  try {
    db = new Database(path, { timeout: 0 });
    db.prepare("SELECT count(*) FROM sqlite_master").get();
    return null;
  } catch (error) {
    if (isBusy(error)) return readHolder(`${path}.holder`);
    throw lockFileError(path, error);
  } finally {
    db?.close();
  }
}

function readHolder(note: string): LockHolder {
  const facts = readJsonFile<Omit<LockHolder, "description">>(note);
  if (facts === null) return { description: "another process" };
  return { ...facts, description: `process ${facts.pid} (${facts.command}, since ${facts.since})` };
}
