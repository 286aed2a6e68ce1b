/** What is old, by the times that rows carry. Times are ISO. */
export interface AgeLimit {
  /** Rows of before this time are old. */
  readonly until: string;
  /** Rows of after this time were written by a clock that was ahead: nobody knows how old they are. */
  readonly now: string;
}

/** Some rows in their order, and what of them may go. */
export interface RemovablePart {
  readonly rows: number;
  /** About so many bytes. */
  readonly bytes: number;
  /** To be called in a transaction. */
  readonly remove: () => void;
  /** Where the next part begins; null: nothing more may go. */
  readonly next: number | null;
}

/** Finds what may go, some rows at a time; removes nothing by itself. */
export interface Removable {
  /** Where to begin. */
  start(): number;
  find(from: number): RemovablePart;
}

/** Rows of one part: a transaction that removes them takes some milliseconds. */
export const rowsAtOnce = 200;

/**
 * Pure: how many of the first rows may go, given their times in the order they were written. The first row that is
 * young ends it. A row without a time that can be true goes with an old one that was written after it.
 */
export function countOld(times: readonly (string | null)[], { until, now }: AgeLimit): number {
  const young = times.findIndex((at) => at !== null && at >= until && at <= now);
  const first = young === -1 ? times : times.slice(0, young);
  return first.findLastIndex((at) => at !== null && at < until) + 1;
}

/** Of the rows of one part. */
export function sumOf(numbers: readonly (number | null)[]): number {
  return numbers.reduce<number>((sum, one) => sum + (one ?? 0), 0);
}
