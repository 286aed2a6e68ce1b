import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  openSync,
  readSync,
  rmSync,
  statSync,
} from "node:fs";
import path from "node:path";
import { keepMode, makeFolders, replaceFile } from "../base/atomic-file.ts";
import { MirrorError } from "../base/errors.ts";

/** Where the next report is written. */
export function nextOf(report: string): string {
  return `${report}.next`;
}

/** "FmRp", the `application_id` of every report: only such a file is replaced. */
export const applicationId = 0x46_6d_52_70;
/** The layout's version, as `PRAGMA user_version`. */
export const userVersion = 1;

/** Whether there is a report. @throws MirrorError `database`: another file stands in its place */
export function findReport(report: string): boolean {
  if (!existsSync(report)) return false;
  const header = Buffer.alloc(100);
  if (statSync(report).isFile()) readHead(report, header);
  const isSqlite = header.toString("latin1", 0, 16) === "SQLite format 3\0";
  if (isSqlite && header.readUInt32BE(68) === applicationId) return true;
  throw new MirrorError("database", `something that is no report stands in its place: ${report}`, {
    hint: "Move it away; publish does not overwrite other people's files.",
  });
}

function readHead(place: string, head: Buffer): void {
  const file = openSync(place, "r");
  try {
    readSync(file, head, 0, head.length, 0);
  } finally {
    closeSync(file);
  }
}

const besideEndings = ["-journal", "-wal", "-shm"];

/** Makes the folder of the report where it is missing: who may read the report may enter it. */
export function makeReportFolder(report: string, mode: number | null): void {
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
 * Puts the next report in place. Its mode is `mode`; null: that of the earlier one, or for its owner only. Removes a journal that a foreign writer left
 * beside the earlier report, because SQLite would apply it to the new one.
 *
 * Guarantee: the report's name always leads to a complete file, the earlier or the new one (`replaceFile`).
 * Source of truth: the mirror.
 * Worst outcome of a crash: the next report's file is left over until the next publish.
 */
export function replaceReport(report: string, mode: number | null): void {
  const next = nextOf(report);
  if (mode === null) keepMode(next, report, ownerOnly);
  else chmodSync(next, mode);
  for (const ending of besideEndings) rmSync(report + ending, { force: true });
  replaceFile(next, report);
}
