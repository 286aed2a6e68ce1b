import { statSync } from "node:fs";
import type { Log } from "../base/logger.ts";
import { formatSize } from "../base/units.ts";

/** Twice as long as SQLite lets it grow before it is emptied (`journal_size_limit`), unless a reader needs it. */
export const longLogBytes = 128 * 1024 * 1024;

/** Size of the write-ahead log beside a database, bytes; 0 without one. */
export function logBytes(database: string): number {
  return statSync(`${database}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

export function longLogText(bytes: number): string {
  return `the write-ahead log has grown to ${formatSize(bytes)}: a program that keeps the mirror open for reading holds it back. End its query or the program; let readers open the report instead`;
}

/**
 * Looks whether a reader lets the write-ahead log grow, and says so: a warning when it is too long and each time its
 * length doubles, a line when it is short again.
 */
export class LogWatch {
  private readonly database: string;
  private readonly log: Log;
  private readonly nowMs: () => number;
  private readonly longBytes: number;
  private warnAt: number;
  /** Since when it is too long, of `nowMs`; null: it is not. A reader has been there for at least as long. */
  private heldSinceMs: number | null = null;

  constructor(database: string, log: Log, nowMs: () => number, longBytes = longLogBytes) {
    this.database = database;
    this.log = log;
    this.nowMs = nowMs;
    this.longBytes = longBytes;
    this.warnAt = longBytes;
  }

  /** For how long at least a reader has held the log back, as far as `look` has seen; 0: none does. Milliseconds. */
  get heldMs(): number {
    return this.heldSinceMs === null ? 0 : this.nowMs() - this.heldSinceMs;
  }

  look(): void {
    const { database, log, longBytes } = this;
    const bytes = logBytes(database);
    if (bytes >= this.warnAt) {
      log.warn(longLogText(bytes), { path: `${database}-wal`, bytes });
      this.warnAt = bytes * 2;
      this.heldSinceMs ??= this.nowMs();
    } else if (bytes < longBytes && this.heldSinceMs !== null) {
      log.info("the write-ahead log is short again", { bytes });
      this.warnAt = longBytes;
      this.heldSinceMs = null;
    }
  }
}
