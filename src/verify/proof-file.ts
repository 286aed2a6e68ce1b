import { existsSync, readFileSync } from "node:fs";
import { writeFileAtomically } from "../base/atomic-file.ts";
import { Meta, pinnedIdentity } from "../state/meta.ts";
import type { Db } from "../store/database.ts";
import { fingerprintOf } from "../sync/identity/pinned-identity.ts";
import { differenceCount, type VerifyReport } from "./report.ts";

/** What the last `verify` found, as `status` shows it. */
export interface Proof {
  /** ISO. */
  readonly at: string;
  /** The command: `verify --sample 100`. */
  readonly by: string;
  readonly match: boolean;
  /** Records that differed. */
  readonly differences: number;
  /** What could not be compared. */
  readonly uncompared: number;
  readonly records_compared: number;
  readonly details_compared: number;
  readonly details_total: number;
  /** ISO; null: all in one go. */
  readonly resumed_since: string | null;
}

/**
 * Stores what `verify` found in a file beside the mirror, because a daemon may hold the mirror itself.
 *
 * Guarantee: after a crash the file holds the old result or the new one. It names the mirror that it is about.
 * Source of truth: the file.
 * Worst outcome of a crash: the old result stays.
 */
export function writeProof(file: string, db: Db, report: VerifyReport): void {
  const {
    finished_at: at,
    by,
    match,
    uncompared,
    records_compared,
    details_compared,
    details_total,
    resumed,
  } = report;
  const resumed_since = resumed?.since ?? null;
  const counts = { differences: differenceCount(report), uncompared: uncompared.length };
  const details = { records_compared, details_compared, details_total, resumed_since };
  const proof: Proof = { at, by, match, ...counts, ...details };
  writeFileAtomically(file, `${JSON.stringify({ mirror: nameOfMirror(db), ...proof })}\n`);
}

/** What the last `verify` of this mirror found; null: none did, or the file is of another mirror. */
export function readProof(file: string, db: Db): Proof | null {
  if (!existsSync(file)) return null;
  try {
    const { mirror, ...proof } = JSON.parse(readFileSync(file, "utf8")) as Proof & {
      readonly mirror: unknown;
    };
    return mirror === nameOfMirror(db) ? proof : null;
  } catch {
    return null;
  }
}

/** Another mirror of the same company has another name; null: it is of no company yet. */
export function nameOfMirror(db: Db): string | null {
  const salt = pinnedIdentity(new Meta(db))?.salt;
  return salt === undefined ? null : fingerprintOf("verified", salt);
}
