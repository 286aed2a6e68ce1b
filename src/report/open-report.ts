import { MirrorError } from "../base/errors.ts";
import { openDatabase, type Db } from "../store/database.ts";
import { applicationId, userVersion } from "./report-file.ts";

/** Reads a report that is there. */
export function readReport<T>(report: string, read: (db: Db) => T): T {
  const db = openDatabase(report, { readonly: true });
  try {
    return read(db);
  } finally {
    db.close();
  }
}

/** Attaches the `report`, which is written without a journal: an unfinished file is removed. */
export function attachReport(db: Db, next: string, pageSize: number): void {
  // Databases without a journal are refused in SQLite's defensive mode.
  db.unsafeMode();
  db.prepare("ATTACH ? AS report").run(next);
  db.pragma(`report.page_size = ${pageSize}`);
  db.pragma("report.auto_vacuum = NONE");
  db.pragma("report.journal_mode = OFF");
  db.pragma("report.locking_mode = EXCLUSIVE");
  db.pragma("report.cache_size = -8000");
  db.pragma(`report.application_id = ${applicationId}`);
  db.pragma(`report.user_version = ${userVersion}`);
}

/** Large pages make a large report a fifth faster to write and to scan; a small one would be mostly empty. */
export function pageSizeFor(mirrorBytes: number): number {
  return mirrorBytes > 100e6 ? 32_768 : 4_096;
}

/** @throws MirrorError `database`: what was written is damaged */
export function assertSoundReport(db: Db): void {
  const found = db.pragma("report.quick_check", { simple: true });
  if (found === "ok") return;
  throw new MirrorError("database", `the new report is damaged and was removed: ${String(found)}`, {
    hint: "Check the disk and memory, then publish again.",
  });
}
