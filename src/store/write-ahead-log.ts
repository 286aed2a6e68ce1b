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
export function createLogWatch(database: string, log: Log, nowMs: () => number, longBytes = longLogBytes) {
  let warnAt = longBytes;
  /** Since when it is too long, of `nowMs`; null: it is not. A reader has been there for at least as long. */
  let heldSinceMs: number | null = null;
  return {
    /** For how long at least a reader has held the log back, as far as `look` has seen; 0: none does. Milliseconds. */
    heldMs: () => (heldSinceMs === null ? 0 : nowMs() - heldSinceMs),
    look: () => {
      const bytes = logBytes(database);
      if (bytes >= warnAt) {
        log.warn(longLogText(bytes), { path: `${database}-wal`, bytes });
        warnAt = bytes * 2;
        heldSinceMs ??= nowMs();
      } else if (bytes < longBytes && heldSinceMs !== null) {
        log.info("the write-ahead log is short again", { bytes });
        warnAt = longBytes;
        heldSinceMs = null;
      }
    },
  };
}
