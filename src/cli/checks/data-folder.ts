import { accessSync, constants, statSync } from "node:fs";
import { freeBytesAt, nearestPresent } from "../../base/atomic-file.ts";
import { messageOf } from "../../base/errors.ts";
import { formatSize } from "../../base/units.ts";
import { lowSpaceBytes } from "../../status/conditions.ts";
import { lockHolder } from "../../store/writer-lock.ts";
import type { CompanyScope } from "../mirror/company-scope.ts";
import { fail, failFrom, ok, warn, type CheckResult } from "./check-result.ts";

/** Checks that the data folder is there and can be written, or can be created. */
export function checkDataDir(dataDir: string): CheckResult {
  const present = nearestPresent(dataDir);
  if (!statSync(present).isDirectory())
    return fail("data_dir", `${present} is a file, not a folder`, "move it away, or set data_dir");
  try {
    accessSync(present, constants.W_OK | constants.X_OK);
  } catch (error) {
    const detail = `${present} cannot be written: ${messageOf(error)}`;
    return fail("data_dir", detail, "check its owner and mode, or set data_dir");
  }
  return ok("data_dir", present === dataDir ? dataDir : `${dataDir} (will be made)`);
}

const fullBytes = 100_000_000;

/** Warns below 1 GB of free space, fails below 100 MB. */
export function judgeFreeSpace(freeBytes: number): CheckResult {
  const detail = `${formatSize(freeBytes)} free`;
  if (freeBytes >= lowSpaceBytes) return ok("disk", detail);
  const hint = "free some space: a mirror, its change log and a report being rewritten need room";
  return freeBytes < fullBytes ? fail("disk", detail, hint) : warn("disk", detail, hint);
}

/** Checks the free space of the data folder's disk. */
export function checkDisk(dataDir: string): CheckResult {
  return judgeFreeSpace(freeBytesAt(dataDir));
}

/** Warns while another process writes the mirror. */
export function checkLock({ files }: CompanyScope): CheckResult {
  try {
    const holder = lockHolder(files.lock)?.description;
    if (holder === undefined) return ok("lock", "nobody is writing the mirror");
    return warn(
      "lock",
      `being written by ${holder}`,
      "`sync` beside `serve` has the daemon make the run; beside another `sync` it ends with exit code 11",
    );
  } catch (error) {
    return failFrom("lock", error);
  }
}
