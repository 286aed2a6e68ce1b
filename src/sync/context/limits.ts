/** A run that would remove more than this of a resource stops and asks (I5). */
export function massDeleteLimit(liveRecords: number): number {
  return Math.max(20, Math.floor(liveRecords * 0.05));
}

/** A listing that moved under our eyes is read this many times in all, then I5 alone is relied on. */
export const mostSweeps = 3;

/** A row whose answer could not be used is tried this often in one run before it is a dead letter. */
export const mostAttempts = 3;

/** So many failures in a row, without one answer between, mean that the service is away. */
export const awayAfter = 12;

/** An interrupted sweep older than this is begun anew instead of being gone on with. */
export const resumeWithinMs = 36 * 3_600_000;

/** A sweep that was resumed after a longer pause than this is followed by a fresh one. */
export const trustPauseMs = 10 * 60_000;

/** Records without a parent that a run asks for: as few as may go without leave. */
export const mostOrphans = 20;

/** A detail read more recently than this is not stale enough for the scrub. */
export const scrubAgeMs = 20 * 3_600_000;

/** Smaller page sizes to fall back to when the service refuses ours. */
export const smallerPages = [200, 100, 50, 25, 10] as const;

/** Delay before a row is tried again within the run. */
export function retryDelayMs(attempts: number): number {
  return 1_000 * 2 ** Math.min(attempts, 5);
}
