import { mkdirSync, readFileSync, renameSync } from "node:fs";
import { dirname } from "node:path";
import Database from "better-sqlite3";
import type { Clock } from "../base/clock.ts";
import { MirrorError, messageOf } from "../base/errors.ts";
import { silentLog, type Log } from "../base/logger.ts";
import { decodeState, encodeState, type Origin } from "./state-codec.ts";
import type { RateLimitState } from "./state.ts";
import type { RateLimitStore, Step } from "./state-store.ts";

/** Which file, and the clocks to read it with. */
export interface BudgetFileOptions {
  /** `<data_dir>/<company>.budget.db` */
  readonly path: string;
  readonly clock: Clock;
  /** Which boot of the machine the monotonic clock counts from; null where that is not known. */
  readonly bootId?: string | null;
  readonly log?: Log;
}

/**
 * Opens the budget that all processes of this company share, kept across restarts.
 *
 * Guarantee: steps of different processes never interleave. Source of truth: the service; the file remembers its
 * answers. Worst outcome of a crash or power cut: the last steps are lost; a damaged file is put aside and
 * started anew. Throws MirrorError `database` when the file cannot be used.
 */
export function openBudgetFile(options: BudgetFileOptions): RateLimitStore {
  const { path, clock, bootId = readBootId() } = options;
  const here = (): Origin => ({ bootId, monotonicMs: clock.monotonicMs(), wallMs: clock.nowMs() });
  let file: BudgetFile | null = null;
  const using = <T>(act: (open: BudgetFile) => T): T =>
    retryAfterDamage(options, () => {
      file ??= openFile(path);
      try {
        return act(file);
      } catch (error) {
        if (isDamaged(error)) {
          file.close();
          file = null;
        }
        throw error;
      }
    });
  using((open) => open.read(here()));
  return {
    shared: true,
    transact: (step) => using((open) => open.step(step, here)),
    read: () => using((open) => open.read(here())),
    close: () => {
      file?.close();
      file = null;
    },
  };
}

/** A damaged file is put aside, and the step repeated with a new one, once. */
function retryAfterDamage<T>({ path, clock, log = silentLog }: BudgetFileOptions, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (!isDamaged(error)) throw asMirrorError(error, path);
    setAside(path, clock, log);
    return act();
  }
}

/** Steps take microseconds. A longer wait means that another program holds the file. */
const busyTimeoutMs = 5_000;

interface BudgetFile {
  step<T>(step: (state: RateLimitState | null) => Step<T>, here: () => Origin): T;
  read(here: Origin): RateLimitState | null;
  close(): void;
}

function openFile(path: string): BudgetFile {
  mkdirSync(dirname(path), { recursive: true });
  const db = new Database(path, { timeout: busyTimeoutMs });
  try {
    return budgetIn(db);
  } catch (error) {
    db.close();
    throw error;
  }
}

function budgetIn(db: Database.Database): BudgetFile {
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = NORMAL");
  db.exec(
    "CREATE TABLE IF NOT EXISTS budget (id INTEGER PRIMARY KEY CHECK (id = 1), state TEXT NOT NULL) STRICT",
  );
  const select = db.prepare<[], { state: string }>("SELECT state FROM budget WHERE id = 1");
  const replace = db.prepare<[string]>("INSERT OR REPLACE INTO budget (id, state) VALUES (1, ?)");
  const read = (here: Origin) => {
    const row = select.get();
    return row ? decodeState(row.state, here) : null;
  };
  const inTransaction = db.transaction((act: () => unknown) => act());
  return {
    step: <T>(step: (state: RateLimitState | null) => Step<T>, here: () => Origin) =>
      inTransaction.immediate(() => {
        const known = read(here());
        const { state, result } = step(known);
        if (state !== known) replace.run(encodeState(state, here()));
        return result;
      }) as T,
    read,
    close: () => void db.close(),
  };
}

function isDamaged(error: unknown): boolean {
  const code = error instanceof Database.SqliteError ? error.code : "";
  return code === "SQLITE_NOTADB" || code.startsWith("SQLITE_CORRUPT");
}

function setAside(path: string, clock: Clock, log: Log): void {
  const aside = `${path}.damaged-${clock.nowMs()}`;
  for (const suffix of ["", "-wal", "-shm"]) moveIfThere(path + suffix, aside + suffix);
  log.warn("the file of the request budget was damaged: moved away, starting with an empty one", {
    path,
    aside,
  });
}

function moveIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

function asMirrorError(error: unknown, path: string): unknown {
  const busy = error instanceof Database.SqliteError && error.code.startsWith("SQLITE_BUSY");
  if (!(error instanceof Database.SqliteError) && !isOfFileSystem(error)) return error;
  return new MirrorError(
    "database",
    `the file of the request budget cannot be used: ${path}: ${messageOf(error)}`,
    {
      retryable: busy,
      hint: "Check that the data directory is writable, has space and is on a local disk.",
      cause: error,
    },
  );
}

function isOfFileSystem(error: unknown): boolean {
  return error instanceof Error && "syscall" in error;
}

/** The id of this boot on Linux; null elsewhere, where the clocks are compared. */
export function readBootId(): string | null {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return null;
  }
}
