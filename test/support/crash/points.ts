/**
 * Loaded before the program (`--import`): counts the points at which a crash may matter, and ends the process at one
 * of them as a power cut would, by SIGKILL. Points are before and after each commit, before each call that changes a
 * file, and with `CRASH_STATEMENTS` before each statement that writes.
 *
 * `CRASH_LOG`: file that gets a line for each point; all other files of its folder are what the program works on.
 * `CRASH_AT`: number of the point to die at, from 1. `CRASH_STATES`: a line begins with a digest of those files.
 * `CRASH_THREADS`: the points of its worker threads count, and not its own.
 */
import Database from "better-sqlite3";
import { createHash } from "node:crypto";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import path from "node:path";
import { isMainThread } from "node:worker_threads";

const logFile = process.env["CRASH_LOG"] ?? "";
const dieAt = Number(process.env["CRASH_AT"] ?? 0);
const givesStates = process.env["CRASH_STATES"] !== undefined;
const countsStatements = process.env["CRASH_STATEMENTS"] !== undefined;
const countsThreads = process.env["CRASH_THREADS"] !== undefined;
/** Opened once: the calls that append to a file by its name are watched themselves. */
const log = fs.openSync(logFile, "a");

let count = 0;

/** What a process that starts after a crash would find: names, modes and contents of all files, as a digest. */
function stateOf(folder: string): string {
  const digest = createHash("sha1");
  for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (file === logFile || file.endsWith("-shm")) continue;
    digest.update(`${file}\0${fs.statSync(file).mode}\0`);
    if (entry.isFile()) digest.update(createHash("sha1").update(fs.readFileSync(file)).digest());
  }
  return digest.digest("hex");
}

/** A point of a program that is made for this: where others learn of its progress. */
export function point(label: string): void {
  if (isMainThread === countsThreads) return;
  count += 1;
  fs.writeSync(log, givesStates ? `${stateOf(path.dirname(logFile))} ${label}\n` : `${label}\n`);
  if (count !== dieAt) return;
  process.kill(process.pid, "SIGKILL");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

type Method = (this: unknown, ...args: never[]) => unknown;

/** Calls `before` with the arguments of each call of a method. */
function precede(holder: object, name: string, before: (...args: unknown[]) => void): void {
  const methods = holder as Record<string, Method>;
  const original = methods[name] as Method;
  methods[name] = function preceded(this: unknown, ...args: never[]) {
    before(...args);
    return original.apply(this, args);
  };
}

/** Nothing of it stays after the process. */
const passing =
  /^\s*(?:CREATE TEMP|INSERT INTO temp\.|BEGIN|ROLLBACK|SAVEPOINT|RELEASE|ATTACH|DETACH|PRAGMA|SELECT|EXPLAIN)/i;

/** Marks the points around one statement. */
function around<T>(db: Database.Database, sql: string, run: () => T): T {
  const file = path.basename(db.name);
  const isCommit = /^\s*COMMIT/i.test(sql) || (!db.inTransaction && !passing.test(sql));
  if (isCommit) point(`before commit ${file}`);
  else if (countsStatements && !passing.test(sql))
    point(`statement ${sql.replaceAll(/\s+/g, " ").slice(0, 60)}`);
  const result = run();
  if (isCommit) point(`after commit ${file}`);
  return result;
}

function watchStatements(): void {
  const statement = Object.getPrototypeOf(new Database(":memory:").prepare("SELECT 1")) as Record<
    string,
    Method
  >;
  for (const name of ["run", "get", "all"]) {
    const original = statement[name] as Method;
    statement[name] = function watched(this: unknown, ...args: never[]) {
      const { database, source } = this as Database.Statement;
      return around(database, source, () => original.apply(this, args));
    };
  }
  const database = Database.prototype as unknown as Record<string, Method>;
  const exec = database["exec"] as Method;
  database["exec"] = function watched(this: unknown, ...args: never[]) {
    return around(this as Database.Database, String(args[0]), () => exec.apply(this, args));
  };
}

function named(call: string): (file: unknown) => void {
  return (file) => point(`${call} ${path.basename(String(file))}`);
}

function watchFiles(): void {
  for (const call of ["renameSync", "rmSync", "unlinkSync", "writeFileSync", "copyFileSync", "chmodSync"])
    precede(fs, call, named(call));
  precede(fs, "fsyncSync", () => point("fsyncSync"));
  for (const call of ["rename", "rm", "rmdir"]) precede(fs.promises, call, named(call));
  const { open } = fs.promises;
  let isWatched = false;
  fs.promises.open = async (...args: Parameters<typeof open>) => {
    const handle = await open(...args);
    if (!isWatched) {
      isWatched = true;
      const prototype = Object.getPrototypeOf(handle) as object;
      for (const call of ["writeFile", "sync"]) precede(prototype, call, () => point(`file ${call}`));
    }
    return handle;
  };
  syncBuiltinESMExports();
}

if (isMainThread !== countsThreads) {
  watchStatements();
  watchFiles();
}
