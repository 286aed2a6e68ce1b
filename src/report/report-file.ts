import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import path from "node:path";
import { MirrorError } from "../base/errors.ts";

/**
 * The report's file and what stands beside it.
 *
 * Guarantee: under the report's name there is always a whole file, the old or the new one. The new one is
 * written beside it and renamed after it is on the disk. Worst outcome of a crash: the file beside stays until
 * the next publish.
 */
export interface ReportPaths {
  readonly report: string;
  /** Where the next one is written. */
  readonly next: string;
  /** Held by the one process that publishes. */
  readonly lock: string;
}

export function reportPaths(report: string): ReportPaths {
  return { report, next: `${report}.next`, lock: `${report}.lock` };
}

/** "FmRp" in the header of every report: what makes a file ours, to be replaced. */
export const applicationId = 0x46_6d_52_70;
/** The layout's version for programs that look; `PRAGMA user_version`. */
export const userVersion = 1;

/** Whether there is a report. A file that is none is not ours to overwrite: MirrorError `database`. */
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

/** What a killed publish left. */
export function removeNext({ next }: ReportPaths): void {
  for (const ending of ["", "-journal", "-wal", "-shm"]) rmSync(next + ending, { force: true });
}

const ownerWrites = 0o200;

/** Shares the blocks where the file system can. */
export function copyReport({ report, next }: ReportPaths): void {
  copyFileSync(report, next, constants.COPYFILE_FICLONE);
  chmodSync(next, statSync(next).mode | ownerWrites);
}

/**
 * Puts the new file in place, with the mode that the old one was given. A journal of the old file would be taken for the new one's: whoever wrote into
 * a report and died left it, and what is rolled back with it is gone anyway.
 */
export function replaceReport({ report, next }: ReportPaths): void {
  syncToDisk(next);
  if (existsSync(report)) chmodSync(next, statSync(report).mode);
  for (const ending of ["-journal", "-wal", "-shm"]) rmSync(report + ending, { force: true });
  renameSync(next, report);
  syncToDisk(path.dirname(report));
}

function syncToDisk(place: string): void {
  const file = openSync(place, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
