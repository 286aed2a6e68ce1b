/** What is known of a schedule's past; null: nothing. Epoch milliseconds. */
export interface Taken {
  /** The last slot whose run is done with. */
  readonly slotMs: number | null;
  /** When the last whole run began, whoever made it. */
  readonly wholeRunMs: number | null;
}

/**
 * Pure: is the run of this slot still to be made? However many slots were missed, only the last one counts.
 * What lies in the future was written by a clock that was wrong.
 */
export function isOwed(slotMs: number, taken: Taken, nowMs: number): boolean {
  return [taken.slotMs, taken.wholeRunMs].every((atMs) => atMs === null || atMs > nowMs || atMs < slotMs);
}

const mostJitterMs = 60_000;
const jitterShare = 0.05;

/** So long after its slot a run begins, so that not everybody asks the service in the same second. */
export function jitterMs(intervalMs: number, chance: number): number {
  return Math.floor(Math.min(mostJitterMs, intervalMs * jitterShare) * chance);
}
