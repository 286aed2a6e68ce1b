import { backoffMs } from "../../base/retry.ts";

/** Records of a resource that one run may remove without `--allow-mass-delete` (I5). */
export function massDeleteLimit(liveRecords: number): number {
  return Math.max(20, Math.floor(liveRecords * 0.05));
}

/** A list that changes while it is read is read this many times in all; after that only I5 protects its rows. */
export const mostSweeps = 3;
/** And this many times, while each reading shows records that those before it did not: a list that shuffles ties. */
export const mostGrowingSweeps = 10;
/** So many pages running without a new record mean that a paginator does not lead on. */
export const mostIdlePages = 3;
/** The end of a list that grows while it is read is read again this many times per reading. */
export const mostTails = 5;
/** After so many parents' lists that do not lead on, only the first page of further ones is read in the run. */
export const mostDeadEnds = 3;
/** The event worker, and who asks after a parent, try a work item this often before it is a dead letter. */
export const mostAttempts = 3;
/** A run tries a work item again this often, after failures of its own. */
export const mostRetries = 5;
/** An answer that contradicts its question, or itself, is asked for this often in all. */
export const mostContradictions = 5;

/** The pauses between them, ms: 2, 4, 8, 16 and 30 s, together a minute. `failures` counts from 1. */
export function retryPauseMs(failures: number): number {
  return backoffMs(failures, { baseMs: 2_000, maxMs: 30_000 });
}

/** A list is read again, whatever else is waiting, when its last reading began longer ago than this. */
export const listAgeMs = 20 * 3_600_000;
/** Records without a parent that a run checks at a time: as many as may be removed without permission. */
export const mostOrphans = 20;
/** Records in quarantine that a run reads again. */
export const mostQuarantined = 100;
/** The scrub leaves out what was read more recently than this; its day is as long. */
export const scrubAgeMs = 20 * 3_600_000;
/** Within this time a change, an event or a document of a record counts as recent activity. */
export const recentActivityMs = 90 * 86_400_000;
/** So many of the parents, and of the records, with recent activity are looked at in one scrub. */
export const mostRecent = 20_000;
/** No smaller pages are tried when the service refuses the size of a page without naming one it accepts. */
export const smallestPage = 10;

/** Time before a work item is tried again within the run, ms: 1 s, doubled per attempt, 32 s at most. */
export function itemRetryDelayMs(attempts: number): number {
  return backoffMs(attempts + 1, { baseMs: 1_000, maxMs: 32_000 });
}

/** So many records refused in a row, without a 200 of another one in between, hold the resource's records. */
export const mostRefusedInARow = 5;
