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
import { replaceFile } from "../base/atomic-file.ts";
import { MirrorError } from "../base/errors.ts";

/**
 * The report's file and what stands beside it.
 *
 * Guarantee: the report's name always leads to a complete file, the earlier or the new one (`replaceFile`).
 * Source of truth: the mirror.
 * Worst outcome of a crash: `next` is left over until the next publish.
 */
export interface ReportPaths {
  readonly report: string;
  /** Where the next report is written. */
  readonly next: string;
  /** Held by the process that publishes. */
  readonly lock: string;
}

/** The paths of the report with this name. */
export function reportPaths(report: string): ReportPaths {
  return { report, next: `${report}.next`, lock: `${report}.lock` };
}

/** "FmRp", the `application_id` of every report: only such a file is replaced. */
export const applicationId = 0x46_6d_52_70;
/** The layout's version, as `PRAGMA user_version`. */
export const userVersion = 1;

/** Whether there is a report. @throws MirrorError `database`: another file stands in its place */
export function findReport(report: string): boolean {
  if (!existsSync(report)) return false;
  const header = Buffer.alloc(100);
  const file = openSync(report, "r");
  try {
    readSync(file, header, 0, header.length, 0);
  } finally {
    closeSync(file);
  }
  const isSqlite = header.toString("latin1", 0, 16) === "SQLite format 3\0";
  if (isSqlite && header.readUInt32BE(68) === applicationId) return true;
  throw new MirrorError("database", `a file that is no report stands in its place: ${report}`, {
    hint: "Move it away; publish does not overwrite other people's files.",
  });
}

const besideEndings = ["-journal", "-wal", "-shm"];

/** Removes what a killed publish left. */
export function removeNext({ next }: ReportPaths): void {
  for (const ending of ["", ...besideEndings]) rmSync(next + ending, { force: true });
}

const ownerWrites = 0o200;

/** Copies the report to `next`; shares its blocks where the file system can. */
export function copyReport({ report, next }: ReportPaths): void {
  copyFileSync(report, next, constants.COPYFILE_FICLONE);
  chmodSync(next, statSync(next).mode | ownerWrites);
}

/**
 * Puts the next report in place, with the mode of the earlier one. Removes a journal that a foreign writer left
 * beside the earlier report, because SQLite would apply it to the new one.
 */
export function replaceReport({ report, next }: ReportPaths): void {
  if (existsSync(report)) chmodSync(next, statSync(report).mode);
  for (const ending of besideEndings) rmSync(report + ending, { force: true });
  replaceFile(next, report);
}
