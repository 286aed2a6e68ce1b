import Database from "better-sqlite3";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { MirrorError } from "../base/errors.ts";

/**
 * One writer per mirror. The guarantee is the operating system's file lock behind an exclusive SQLite
 * transaction on a file of its own: any kind of death releases it, nothing stale can be left behind.
 * The note beside it only tells people who holds it.
 */
export interface WriterLock {
  release(): void;
}

/** Long enough to outlast a glance of `lockHolder`, too short for a person to notice. */
const patienceMs = 250;

export function takeWriterLock(path: string, command: string): WriterLock {
  const note = `${path}.holder`;
  let db: Database.Database | null = null;
  try {
    db = new Database(path, { timeout: patienceMs });
    db.pragma("journal_mode = DELETE");
    db.exec("BEGIN EXCLUSIVE");
    writeFileSync(note, JSON.stringify({ pid: process.pid, command, since: new Date().toISOString() }));
    return lockOn(db, note);
  } catch (error) {
    db?.close();
    if (isBusy(error)) throw lockedBy(note, error);
    throw new MirrorError("database", `the lock file cannot be used: ${path}`, {
      hint: "Check that the folder exists, and the owner and mode of the file and its folder.",
      cause: error,
    });
  }
}

function lockOn(db: Database.Database, note: string): WriterLock {
  return {
    release: () => {
      rmSync(note, { force: true });
      db.close();
    },
  };
}

/** Who holds the lock, for people; null when nobody does. */
export function lockHolder(path: string): string | null {
  if (!existsSync(path)) return null;
  const db = new Database(path, { timeout: 0 });
  try {
    db.prepare("SELECT count(*) FROM sqlite_master").get();
    return null;
  } catch (error) {
    if (isBusy(error)) return describe(`${path}.holder`);
    throw error;
  } finally {
    db.close();
  }
}

/** The command that holds the lock, by its note; null: nobody holds it, or nobody knows who. */
export function lockingCommand(path: string): string | null {
  return lockNote(path)?.command ?? null;
}

/** What the holder of the lock wrote down of itself; null: nobody holds it, or nobody knows who. */
export function lockNote(path: string): HolderNote | null {
  return lockHolder(path) === null ? null : noted(`${path}.holder`);
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && "code" in error && String(error.code).startsWith("SQLITE_BUSY");
}

function lockedBy(note: string, cause: unknown): MirrorError {
  return new MirrorError("locked", `the mirror is being written by ${describe(note)}`, {
    hint: "Wait until it ends, or stop it; two writers would spoil each other's work.",
    retryable: true,
    cause,
  });
}

export interface HolderNote {
  readonly pid?: number;
  readonly command?: string;
  /** ISO, when the lock was taken. */
  readonly since?: string;
}

function noted(note: string): HolderNote | null {
  try {
    return JSON.parse(readFileSync(note, "utf8")) as HolderNote;
  } catch {
    return null;
  }
}

function describe(note: string): string {
  const holder = noted(note);
  return holder ? `process ${holder.pid} (${holder.command}, since ${holder.since})` : "another process";
}
