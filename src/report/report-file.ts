import { chmodSync, constants, copyFileSync, existsSync, rmSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import path from "node:path";
import { keepMode, makeFolders, replaceFile } from "../base/files/atomic-file.ts";
import { MirrorError } from "../base/errors.ts";
import { databaseError, guarded, type Db } from "../store/database.ts";
import { takeWriterLock } from "../store/writer-lock.ts";

interface PublishedFile {
  /** `unchanged`: the report that is there has the same content and was not touched. */
  readonly outcome: "written" | "unchanged";
  readonly file: string;
  readonly bytes: number;
}

/**
 * Replaces a report. `write` gets whether there is one that no other program has written since, and writes `nextOf` it;
 * it returns false where nothing changed. `mode` is of the file; null: that of the earlier one, or for its owner only.
 *
 * Guarantee: readers have a complete file at every moment, the earlier report or the new one.
 * Source of truth: the mirror.
 * Worst outcome of a crash: the earlier report stays, and an unfinished file beside it until the next publish.
 *
 * @throws MirrorError `locked`, `stopped` or `database`
 */
export async function publishFile(
  file: string,
  mode: number | null,
  write: (isAsPublished: boolean) => Promise<boolean>,
): Promise<PublishedFile> {
  guarded(file, () => makeReportFolder(file, mode));
  using _ = takeWriterLock(`${file}.lock`, "publish", `the report ${file}`);
  try {
    const isAsPublished = (await countWrites(file)) === 1;
    removeNext(file);
    const isWritten = await write(isAsPublished);
    if (isWritten) await replaceReport(file, mode);
    else if (mode !== null) chmodSync(file, mode);
    return { outcome: isWritten ? "written" : "unchanged", file, bytes: statSync(file).size };
  } catch (error) {
    removeNext(file);
    throw databaseError(file, error);
  }
}

export function nextOf(report: string): string {
  return `${report}.next`;
}

/** "FmRp", the `application_id` of every report: only such a file is replaced. */
export const applicationId = 0x46_6d_52_70;
/** The layout's version, as `PRAGMA user_version`. */
const userVersion = 1;

/** Where SQLite counts the transactions that wrote a file, and where it repeats the count. */
const writesAt = [24, 92] as const;

/** The count of the report that is there; null: there is none. @throws MirrorError `database`: another file stands in its place */
async function countWrites(report: string): Promise<number | null> {
  if (!existsSync(report)) return null;
  const header = Buffer.alloc(100);
  if (statSync(report).isFile()) {
    await using file = await open(report);
    await file.read(header);
  }
  const isSqlite = header.toString("latin1", 0, 16) === "SQLite format 3\0";
  if (isSqlite && header.readUInt32BE(68) === applicationId) return header.readUInt32BE(writesAt[0]);
  throw new MirrorError("database", `something that is no report stands in its place: ${report}`, {
    hint: "Move it away; publish does not overwrite other people's files.",
  });
}

const besideEndings = ["-journal", "-wal", "-shm"];

/** Makes the folder of the report where it is missing: who may read the report may enter it. */
function makeReportFolder(report: string, mode: number | null): void {
  const readers = (mode ?? ownerOnly) & 0o044;
  makeFolders(path.dirname(report), 0o700 | readers | (readers >> 2));
}

/** Removes what a killed publish left. */
export function removeNext(report: string): void {
  for (const ending of ["", ...besideEndings]) rmSync(nextOf(report) + ending, { force: true });
}

const ownerOnly = 0o600;
const ownerWrites = 0o200;

/** Copies the report to `nextOf` it; shares its blocks where the file system can. */
export function copyReport(report: string): void {
  const next = nextOf(report);
  copyFileSync(report, next, constants.COPYFILE_FICLONE);
  chmodSync(next, statSync(next).mode | ownerWrites);
}

/**
 * Counts what wrote the new report as one transaction, however it was made. Removes a journal that a foreign writer left
 * beside the earlier one, because SQLite would apply it to the new one.
 */
async function replaceReport(report: string, mode: number | null): Promise<void> {
  const next = nextOf(report);
  await using file = await open(next, "r+");
  for (const at of writesAt) await file.write(Uint8Array.of(0, 0, 0, 1), 0, 4, at);
  if (mode === null) keepMode(next, report, ownerOnly);
  else chmodSync(next, mode);
  for (const ending of besideEndings) rmSync(report + ending, { force: true });
  replaceFile(next, report);
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

/** Tables that are not complete, by `_about` of a snapshot or of a report. */
export function incompleteTables(db: Db): string[] {
  const sql = "SELECT subject FROM _about WHERE fact = 'complete' AND value = 'no' ORDER BY subject";
  return db.prepare(sql).pluck().all() as string[];
}
