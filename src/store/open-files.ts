import { MirrorError } from "../base/errors.ts";
import type { Db } from "./database.ts";
import { assertHeld, fileAt, type WriterLock } from "./writer-lock.ts";

/**
 * The files that the writing connection of a mirror has open: the mirror, its write-ahead log and the log's index.
 *
 * Guarantee: `assertInPlace` throws once another file, or none, stands in the place of one: what is written into a file
 * without a name is lost with the process (I6).
 * Source of truth: the inodes behind the names. To open and close a file would end this process's locks on it.
 * Worst outcome of a crash: what a log held that was removed less than two seconds before.
 */
export class OpenFiles {
  private readonly db: Db;
  private readonly lock: WriterLock;
  private readonly mirror: string;
  /** SQLite makes both no later than at the first transaction. */
  private log: string | null = null;

  constructor(db: Db, lock: WriterLock) {
    this.db = db;
    this.lock = lock;
    this.mirror = fileAt(db.name);
  }

  /** Throws MirrorError `locked` where the lock, the mirror or its log is not what was opened. Called within a transaction first. */
  assertInPlace(): void {
    assertHeld(this.lock);
    if (!this.isMirrorInPlace())
      throw replaced(
        `the mirror's file was removed or replaced while it was open: ${this.db.name}`,
        "Nothing was written since. Stop `serve` before its files are moved; `restore` brings a backup back.",
      );
    this.log ??= this.logFiles();
    if (this.logFiles() !== this.log)
      throw replaced(
        `the mirror's write-ahead log was removed or replaced while it was open: ${this.db.name}-wal`,
        "What it held is written into the mirror now. Remove no -wal or -shm file: a part of the mirror is in them.",
      );
  }

  /**
   * Writes what a log without a name holds into the mirror: closing would do so only where nobody else reads. Not where
   * another process may have written meanwhile. Throws MirrorError `locked` where a reader keeps it from a part.
   */
  rescueLog(): void {
    const isLost = this.log !== null && this.log !== this.logFiles();
    if (!isLost || !this.lock.isHeld() || !this.isMirrorInPlace()) return;
    // The columns of this pragma, as SQLite documents them.
    const [result] = this.db.pragma("wal_checkpoint(TRUNCATE)") as { log: number; checkpointed: number }[];
    const { log, checkpointed } = result ?? { log: 0, checkpointed: 0 };
    if (log === checkpointed) return;
    throw replaced(
      `${log - checkpointed} pages of the removed write-ahead log are lost: another program was reading ${this.db.name}`,
      "`fintoro-mirror sync --full` reads again what was lost. Let readers open the report instead.",
    );
  }

  private isMirrorInPlace(): boolean {
    return fileAt(this.db.name) === this.mirror;
  }

  private logFiles(): string {
    return ["-wal", "-shm"].map((end) => fileAt(`${this.db.name}${end}`)).join();
  }
}

function replaced(message: string, hint: string): MirrorError {
  return new MirrorError("locked", message, { hint, retryable: true });
}
