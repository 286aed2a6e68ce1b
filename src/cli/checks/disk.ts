import { accessSync, constants, existsSync, statfsSync, statSync } from "node:fs";
import path from "node:path";
import { messageOf } from "../../base/errors.ts";
import { formatSize } from "../../base/units.ts";
import { fail, ok, warn, type CheckResult } from "./check-result.ts";

/** The data folder, or the nearest one above it that is there: where it will be made. */
export function nearestFolder(folder: string): string {
  return existsSync(folder) || path.dirname(folder) === folder ? folder : nearestFolder(path.dirname(folder));
}

export function checkDataDir(dataDir: string): CheckResult {
  const present = nearestFolder(dataDir);
  if (!statSync(present).isDirectory())
    return fail("data_dir", `${present} is a file, not a folder`, "move it away, or set data_dir");
  try {
    accessSync(present, constants.W_OK | constants.X_OK);
  } catch (error) {
    return fail(
      "data_dir",
      `${present} cannot be written: ${messageOf(error)}`,
      "check its owner and mode, or set data_dir",
    );
  }
  return ok("data_dir", present === dataDir ? dataDir : `${dataDir} (will be made)`);
}

const lowBytes = 1_000_000_000;
const fullBytes = 100_000_000;

export function judgeFreeSpace(freeBytes: number): CheckResult {
  const detail = `${formatSize(freeBytes)} free`;
  if (freeBytes >= lowBytes) return ok("disk", detail);
  const hint = "free some space: a mirror, its change log and a report being rewritten need room";
  return freeBytes < fullBytes ? fail("disk", detail, hint) : warn("disk", detail, hint);
}

export function checkDisk(dataDir: string): CheckResult {
  const { bavail, bsize } = statfsSync(nearestFolder(dataDir));
  return judgeFreeSpace(bavail * bsize);
}
