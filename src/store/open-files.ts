import { MirrorError } from "../base/errors.ts";
import type { Db } from "./database.ts";
import { assertHeld, fileAt, type WriterLock } from "./writer-lock.ts";

/**
 * Guards the files that the writing connection of a mirror has open: the mirror, its write-ahead log and the log's index.
 *
 * Guarantee: `assertInPlace` throws once another file, or none, stands in the place of one: what is written into a file
 * without a name is lost with the process (I6).
 * Source of truth: the inodes behind the names. To open and close a file would end this process's locks on it.
 * Worst outcome of a crash: what a log held that was removed less than two seconds before.
 */
export function guardOpenFiles(db: Db, lock: WriterLock) {
  const mirror = fileAt(db.name);
  const isMirrorInPlace = () => fileAt(db.name) === mirror;
  const logFiles = () => ["-wal", "-shm"].map((end) => fileAt(`${db.name}${end}`)).join();
  /** SQLite makes both no later than at the first transaction. */
  let opened: string | null = null;
  return {
    /** Throws MirrorError `locked` where the lock, the mirror or its log is not what was opened. Called within a transaction first. */
    assertInPlace(): void {
      assertHeld(lock);
      if (!isMirrorInPlace())
        throw replaced(
          `the mirror's file was removed or replaced while it was open: ${db.name}`,
          "Nothing was written since. Stop `serve` before its files are moved; `restore` brings a backup back.",
        );
      opened ??= logFiles();
      if (logFiles() !== opened)
        throw replaced(
          `the mirror's write-ahead log was removed or replaced while it was open: ${db.name}-wal`,
          "What it held is written into the mirror now. Remove no -wal or -shm file: a part of the mirror is in them.",
        );
    },
    /**
     * Writes what a log without a name holds into the mirror: closing would do so only where nobody else reads. Not where
     * another process may have written meanwhile. Throws MirrorError `locked` where a reader keeps it from a part.
     */
    rescueLog(): void {
      const isLost = opened !== null && opened !== logFiles();
      if (!isLost || !lock.isHeld() || !isMirrorInPlace()) return;
      // The columns of this pragma, as SQLite documents them.
      const [result] = db.pragma("wal_checkpoint(TRUNCATE)") as { log: number; checkpointed: number }[];
      const { log, checkpointed } = result ?? { log: 0, checkpointed: 0 };
      if (log === checkpointed) return;
      throw replaced(
        `${log - checkpointed} pages of the removed write-ahead log are lost: another program was reading ${db.name}`,
        "`fintoro-mirror sync --full` reads again what was lost. Let readers open the report instead.",
      );
    },
  };
}

export type OpenFiles = ReturnType<typeof guardOpenFiles>;

function replaced(message: string, hint: string): MirrorError {
  return new MirrorError("locked", message, { hint, retryable: true });
}
