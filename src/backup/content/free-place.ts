import { existsSync, rmSync } from "node:fs";
import { MirrorError } from "../../base/errors.ts";
import { guarded, hasTable, openDatabase, type Db } from "../../store/database.ts";

/** What the names of files end with that SQLite keeps beside a database. */
const besides = ["-wal", "-shm", "-journal"];

/**
 * Ends the write-ahead log of the mirror that is there, whoever left it: beside another file it would damage that. The
 * mirror itself stays as it was. `check` looks at it first.
 *
 * @throws what `check` throws, or MirrorError `database`; not `retryable` where the mirror cannot be read
 */
export function freePlace(mirror: string, check: (db: Db) => void): void {
  if (!existsSync(mirror)) {
    for (const ending of besides) rmSync(mirror + ending, { force: true });
    return;
  }
  let db: Db | null = null;
  try {
    const there = (db = openDatabase(mirror));
    if (hasTable(there, "_meta")) check(there);
    // Only the last connection can change the mode: no other one may go on with the log.
    guarded(mirror, () => there.pragma("journal_mode = DELETE"));
  } catch (error) {
    const isBad = error instanceof MirrorError && error.kind === "database" && !error.retryable;
    throw isBad ? new MirrorError("database", error.message, { hint: moveAway, cause: error }) : error;
  } finally {
    db?.close();
  }
}

const moveAway =
  "Nobody can tell whose mirror it is. Move it away, with the -wal and -shm beside it, and restore again.";

/**
 * Removes a mirror that nobody needs any more, readable or not. The database first: a log that is left without one
 * belongs to nothing.
 */
export function removeMirror(mirror: string): void {
  for (const ending of ["", ...besides]) rmSync(mirror + ending, { force: true });
}
