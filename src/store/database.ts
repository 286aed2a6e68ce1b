import { accessSync, constants, statSync } from "node:fs";
import { dirname } from "node:path";
import Database from "better-sqlite3";
import {
  codeOf,
  firstThrown,
  messageOf,
  MirrorError,
  systemProblem,
  throwIfAborted,
  valueOr,
} from "../base/errors.ts";
import { onceFor } from "../base/once-for.ts";

export type Db = Database.Database;
/** One that `using` closes. */
export type OwnedDb = Db & Disposable;
export type Statement = Database.Statement;

/** In older versions, two connections can corrupt a write-ahead log while they reset it. */
const oldestVersion = "3.51.3";

const busyTimeoutMs = 5_000;

/**
 * Opens a database; the one place that does. A writing connection runs `synchronous=FULL`, so that what was committed
 * survives a power failure; the library itself would use NORMAL. Throws MirrorError `database`.
 *
 * @param first where it throws, the database is closed again
 */
export function openDatabase(path: string, { readonly = false } = {}, first?: (db: Db) => void): OwnedDb {
  return guarded(path, () => {
    const made = new Database(path, { readonly, timeout: busyTimeoutMs });
    const db = Object.assign(made, { [Symbol.dispose]: () => void made.close() });
    try {
      assertVersion(db);
      // The system keeps pages too: SQLite's usual 16 MB for each connection bring an export of three no time.
      db.pragma("cache_size = -2000");
      if (!readonly) setUpWriter(db);
      first?.(db);
      return db;
    } catch (error) {
      db.close();
      throw error;
    }
  });
}

/** May a file be there? Also where its folder may not be searched: to open it then fails, and says why. */
export function mayBeThere(path: string): boolean {
  return valueOr(() => statSync(path, { throwIfNoEntry: false }), true) !== undefined;
}

/** Throws MirrorError `database` where a mirror, or what `missing` calls it, is not there. */
export function assertThere(path: string, missing: string, hint = "Run `fintoro-mirror sync` first."): void {
  if (!mayBeThere(path)) throw new MirrorError("database", `${missing}: ${path}`, { hint });
}

export function readDatabase<T>(path: string, read: (db: Db) => T): T {
  using db = openDatabase(path, { readonly: true });
  return read(db);
}

function setUpWriter(db: Db): void {
  // Before the first page is written: a file without it gives space back only when all of it is written anew.
  // Where it is set already, to set it again would write a page at each opening.
  if (db.pragma("page_count", { simple: true }) === 0) db.pragma("auto_vacuum = INCREMENTAL");
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = FULL");
  db.pragma("foreign_keys = OFF");
  db.pragma("wal_autocheckpoint = 16000");
  db.pragma("journal_size_limit = 67108864");
  // Otherwise what a part of a transaction would undo is written to a file.
  db.pragma("temp_store = MEMORY");
}

function assertVersion(db: Db): void {
  const version = String(db.prepare("SELECT sqlite_version()").pluck().get());
  if (versionNumber(version) >= versionNumber(oldestVersion)) return;
  throw new MirrorError("database", `SQLite ${version} is too old: ${oldestVersion} or newer is needed`);
}

/** `3.51.3` -> 3051003, as SQLite counts. Not by Intl, whose first comparison takes 7 ms and 3 MB. */
function versionNumber(version: string): number {
  return version.split(".").reduce((number, part) => number * 1_000 + Number(part), 0);
}

/** Has the database attached as `schema` this table? Never a temporary view of the same name. */
export function hasTable(db: Db, name: string, schema = "main"): boolean {
  const sql = "SELECT 1 FROM pragma_table_info(?, ?) LIMIT 1";
  return prepared(db, hasTable, sql, "rows", () => sql).get(name, schema) !== undefined;
}

/** The bytes of all files that a connection has attached. */
export function sizeOfFiles(db: Db): number {
  const attached = db.pragma("database_list") as { file: string }[];
  return attached.reduce((sum, { file }) => sum + (file === "" ? 0 : statSync(file).size), 0);
}

/** Runs `step`. Throws MirrorError `database`, with what to do, in place of an error of SQLite or the disk. */
export function guarded<T>(path: string, step: () => T): T {
  try {
    return step();
  } catch (error) {
    throw databaseError(path, error);
  }
}

const unopened = "the database cannot be opened";

/** What happened: its codes of SQLite or the system, what to do, and whether it may be over when it is tried again. */
const faults: Readonly<Record<string, readonly [RegExp, string, boolean]>> = {
  "the disk is full": [
    // SQLite cannot make the memory that connections share: a file beside the database, too.
    /^SQLITE_(FULL|IOERR_SHMSIZE)|^(ENOSPC|EFBIG|EDQUOT)$/,
    "Free some space and run it again: everything committed is kept.",
    true,
  ],
  "the database is busy": [
    /^SQLITE_(BUSY|LOCKED)/,
    "Another program holds a lock on the file; close it and run again.",
    true,
  ],
  "the database is damaged": [
    /^SQLITE_CORRUPT/,
    "Keep the file for rescue, then restore a backup or move it away and sync anew.",
    false,
  ],
  "the file is not a SQLite database": [
    /^SQLITE_NOTADB/,
    "Check data_dir: a foreign file stands where the mirror belongs.",
    false,
  ],
  "the database cannot be written": [
    /^SQLITE_(READONLY|PERM)|^(EACCES|EPERM|EROFS)$/,
    "Check the owner and mode of the file and its folder.",
    false,
  ],
  [unopened]: [
    /^SQLITE_CANTOPEN|^(ENOENT|ENOTDIR|EEXIST)$|^directory missing$/,
    "Check that data_dir exists and may be read and written.",
    false,
  ],
  "the disk gave an input/output error": [
    /^SQLITE_IOERR/,
    "Check the disk; everything committed is kept.",
    true,
  ],
};

/** The advice, with the reason why a file can be neither made nor written, as far as its folder or itself says it. */
export function withFault(advice: string, file: string): string {
  let place = dirname(file);
  try {
    accessSync(place, constants.R_OK | constants.W_OK | constants.X_OK);
    if (!mayBeThere(file)) return advice;
    place = file;
    accessSync(file, constants.R_OK | constants.W_OK);
    return advice;
  } catch (error) {
    const uid = valueOr(() => statSync(place).uid, undefined);
    const owner = uid === undefined || uid === process.geteuid?.() ? "" : ` (it belongs to user ${uid})`;
    return `${advice.replace(/\.$/, "")}: ${systemProblem(error)?.reason ?? messageOf(error)}${owner}.`;
  }
}

/** A table that is not there may have been removed by somebody, or be a mistake of a statement. */
const unforeseen = "Run `verify --local`, which names damage; if it names none, please report this as a bug.";

/** The MirrorError `database` for an error of SQLite or the disk; any other error as it is. */
export function databaseError(path: string, thrown: unknown): unknown {
  const error = firstThrown(thrown);
  if (error instanceof MirrorError || !(error instanceof Error)) return error;
  const code = sqliteCodeOf(error);
  const known = Object.entries(faults).find(([, [pattern]]) => pattern.test(code));
  if (known) {
    const [what, [, advice, retryable]] = known;
    const hint = what === unopened ? withFault(advice, path) : advice;
    return new MirrorError("database", `${what}: ${path}`, { hint, retryable, cause: error });
  }
  if (!code.startsWith("SQLITE_")) return error;
  return new MirrorError("database", `${error.message}: ${path}`, { hint: unforeseen, cause: error });
}

/** Is it an error of SQLite with such a code, or made of one? */
export function isOfCode(error: unknown, code: RegExp): boolean {
  const cause = error instanceof MirrorError ? error.cause : error;
  return cause instanceof Error && code.test(sqliteCodeOf(cause));
}

export function isBusy(error: unknown): boolean {
  return isOfCode(error, /^SQLITE_BUSY/);
}

/** Is it the error of a statement that names a table or column which is not there? */
export function namesWhatIsAbsent(error: unknown): error is Error {
  return error instanceof Error && sqliteCodeOf(error) === "SQLITE_ERROR";
}

/** The library throws an error without a code for a missing folder, and one of any statement for JSON. */
function sqliteCodeOf(error: Error): string {
  if (error.message.startsWith("Cannot open database")) return "directory missing";
  if (error.message === "malformed JSON") return "SQLITE_CORRUPT";
  return codeOf(error);
}

interface Kept {
  /** Prepared statements by whom they belong to, and a name. */
  readonly statements: Map<unknown, Map<string, Statement>>;
  /** To create it anew for each delivery would cost more than the transaction. Null: it made none yet. */
  runner: Database.Transaction<(step: () => unknown) => unknown> | null;
  /** Throws where another process may write. */
  assertOwner: (() => void) | null;
}

const keptOf = onceFor((_db: Db): Kept => ({ statements: new Map(), runner: null, assertOwner: null }));

/** How a statement gives its rows; the last three give bigints for integers. */
export type Mode = "rows" | "column" | "exact" | "ids" | "cells";

/**
 * The statement that `owner` has by this name on a connection. Prepared at its first use: that costs more than most take
 * to run, and of the 400 of a mirror most companies use few at a time.
 */
export function prepared(db: Db, owner: unknown, name: string, mode: Mode, text: () => string): Statement {
  const owners = keptOf(db).statements;
  let statements = owners.get(owner);
  if (!statements) owners.set(owner, (statements = new Map()));
  const known = statements.get(name);
  if (known) return known;
  const made = db.prepare(text());
  if (mode === "column" || mode === "ids") made.pluck();
  if (mode === "cells") made.raw();
  if (mode !== "rows" && mode !== "column") made.safeIntegers();
  statements.set(name, made);
  return made;
}

/** What SQLite keeps for a statement, about. */
const statementBytes = 60_000;
/** Statements let go of, of whose memory the engine does not know. */
let unknown = 0;
const mostUnknown = 100;

/**
 * Lets go of what a connection keeps in memory, 4 MB after a run: statements, which are prepared again at their next
 * use, and pages of the file.
 *
 * A statement's memory is freed with its object, and the engine does not know how much that is: after the runs of 200
 * companies 400 MB waited for a collection. A buffer of that size, which is never touched and let go of at once, lets
 * it know: it begins to collect in small steps. A collection on demand would stop everything for 0.1 s.
 */
export function releaseMemory(db: Db): void {
  const { statements: owners } = keptOf(db);
  for (const statements of owners.values()) unknown += statements.size;
  owners.clear();
  db.pragma("shrink_memory");
  if (unknown < mostUnknown) return;
  Buffer.allocUnsafeSlow(unknown * statementBytes);
  unknown = 0;
}

/** From now on each transaction calls `assertOwner` first, once no other process can write: it throws where one may. */
export function guardWrites(db: Db, assertOwner: () => void): void {
  keptOf(db).assertOwner = assertOwner;
}

/** Throws where `guardWrites` says that another process may write. */
export function assertMayWrite(db: Db): void {
  keptOf(db).assertOwner?.();
}

/**
 * Runs `step` in one transaction, inside another one as a savepoint. `BEGIN IMMEDIATE`: a transaction that reads first
 * would fail at its first write if another connection wrote meanwhile. Throws what `step` throws, MirrorError `database`.
 */
export function inTransaction<T>(db: Db, step: () => T): T {
  const kept = keptOf(db);
  const assertOwner = db.inTransaction ? null : kept.assertOwner;
  const owned = () => {
    assertOwner?.();
    return step();
  };
  const runner = (kept.runner ??= db.transaction((run: () => unknown) => run()));
  return guarded(db.name, () => runner.immediate(owned) as T);
}

/** Between two steps of about 10 ms, signals and timers of this process are heard. */
const pagesPerStep = 1_000;

/** Copies the pages of the commit that `db` reads in its transaction to a file. @throws MirrorError `stopped` with this message */
export async function copyPages(db: Db, target: string, signal: AbortSignal, message: string): Promise<void> {
  const progress = () => {
    throwIfAborted(signal, message);
    return pagesPerStep;
  };
  await db.backup(target, { progress });
}
