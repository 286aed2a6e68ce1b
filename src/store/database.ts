import Database from "better-sqlite3";
import { MirrorError } from "../base/errors.ts";

/**
 * One place opens SQLite. Every writing connection runs `synchronous=FULL`: what was acknowledged
 * survives the power going off. The library itself would compile WAL with NORMAL.
 */
export type Db = Database.Database;
export type Statement = Database.Statement;

/** Before this, two connections could corrupt a write-ahead log while resetting it. */
const oldestVersion = [3, 51, 3] as const;

export interface OpenOptions {
  readonly readonly?: boolean;
  readonly busyTimeoutMs?: number;
}

export function openDatabase(path: string, options: OpenOptions = {}): Db {
  return guarded(path, () => {
    const db = new Database(path, {
      readonly: options.readonly ?? false,
      timeout: options.busyTimeoutMs ?? 5_000,
    });
    try {
      assertVersion(db);
      if (!options.readonly) setUpWriter(db);
      return db;
    } catch (error) {
      db.close();
      throw error;
    }
  });
}

function setUpWriter(db: Db): void {
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = FULL");
  db.pragma("foreign_keys = OFF");
  db.pragma("cache_size = -32000");
  db.pragma("wal_autocheckpoint = 16000");
  db.pragma("journal_size_limit = 67108864");
}

function assertVersion(db: Db): void {
  const version = String(db.prepare("SELECT sqlite_version()").pluck().get());
  const parts = version.split(".").map(Number);
  for (const [i, floor] of oldestVersion.entries()) {
    const part = parts[i] ?? 0;
    if (part > floor) return;
    if (part < floor) {
      throw new MirrorError(
        "database",
        `SQLite ${version} is too old: ${oldestVersion.join(".")} or newer is needed`,
      );
    }
  }
}

/** Runs `step`; whatever SQLite throws comes out as a MirrorError that says what to do. */
export function guarded<T>(path: string, step: () => T): T {
  try {
    return step();
  } catch (error) {
    throw databaseError(path, error);
  }
}

const hints: readonly (readonly [RegExp, string, string, boolean])[] = [
  [
    /^SQLITE_FULL|^(ENOSPC|EFBIG|EDQUOT)$/,
    "the disk is full",
    "Free some space and run it again: everything committed is kept.",
    true,
  ],
  [
    /^SQLITE_(BUSY|LOCKED)/,
    "the database is busy",
    "Another program holds a lock on the file; close it and run again.",
    true,
  ],
  [
    /^SQLITE_CORRUPT/,
    "the database is damaged",
    "Keep the file for rescue, then restore a backup or move it away and sync anew.",
    false,
  ],
  [
    /^SQLITE_NOTADB/,
    "the file is not a SQLite database",
    "Check data_dir: a foreign file stands where the mirror belongs.",
    false,
  ],
  [
    /^SQLITE_(READONLY|PERM)|^(EACCES|EPERM|EROFS)$/,
    "the database cannot be written",
    "Check the owner and mode of the file and its folder.",
    false,
  ],
  [
    /^SQLITE_CANTOPEN|^(ENOENT|ENOTDIR|EEXIST)$|^directory missing$/,
    "the database cannot be opened",
    "Check that data_dir exists and may be read and written.",
    false,
  ],
  [
    /^SQLITE_IOERR/,
    "the disk gave an input/output error",
    "Check the disk; everything committed is kept.",
    true,
  ],
];

export function databaseError(path: string, error: unknown): unknown {
  if (error instanceof MirrorError || !(error instanceof Error)) return error;
  const code = codeOf(error);
  const known = hints.find(([pattern]) => pattern.test(code));
  if (known) {
    const [, what, hint, retryable] = known;
    return new MirrorError("database", `${what}: ${path}`, { hint, retryable, cause: error });
  }
  if (code.startsWith("SQLITE_")) {
    return new MirrorError("database", `${error.message}: ${path}`, { cause: error });
  }
  return error;
}

/** The library refuses a missing folder by itself, without a code. */
function codeOf(error: Error): string {
  if (error.message.startsWith("Cannot open database")) return "directory missing";
  return "code" in error ? String(error.code) : "";
}

type Runner = Database.Transaction<(step: () => unknown) => unknown>;

/** Made once for each connection: a delivery's transaction is too short to make one each time. */
const runners = new WeakMap<Db, Runner>();

function runnerOf(db: Db): Runner {
  const known = runners.get(db);
  if (known) return known;
  const runner = db.transaction((step: () => unknown) => step());
  runners.set(db, runner);
  return runner;
}

/** `BEGIN IMMEDIATE`: a transaction that reads first and then writes would fail at once when another wrote between. */
export function inTransaction<T>(db: Db, step: () => T): T {
  return guarded(db.name, () => runnerOf(db).immediate(step) as T);
}
