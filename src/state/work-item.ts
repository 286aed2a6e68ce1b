import type { RecordId } from "../base/ids.ts";
import type { Lane, WorkKind } from "../base/lane.ts";

/** A read to be made, as it is added to the queue: (resource, target) names it. */
export interface NewWorkItem {
  readonly kind: WorkKind;
  readonly resource: string;
  readonly target: string;
  readonly lane: Lane;
  /** Why: `new`, `changed`, `absent`, `cascade`, `scrub`, an event's type. */
  readonly reason: string;
  readonly payload?: unknown;
  /** Epoch milliseconds; 0 is now. */
  readonly dueAtMs?: number;
  /** Order within the lane, lower first. @default 0 */
  readonly rank?: number;
  /** Number of the reason in the mirror's sequence: only a read sent after it is an answer to it (I4). */
  readonly dirtySeq: number;
}

export interface WorkItem extends NewWorkItem {
  readonly id: number;
  readonly attempts: number;
}

/**
 * No item waits longer for a recheck or another attempt, ms. One that is due later is due now: the clock was set back
 * after its due time was stored.
 */
export const longestDelayMs = 2 * 60_000;

/** The rank of a record among others of its kind: higher ids first. An id beyond 2^53 would be no integer as a number. */
export function newestFirst(id: RecordId): number {
  return -Math.min(Number(id), Number.MAX_SAFE_INTEGER);
}

/** One record: `id:17`. */
export function recordTarget(id: RecordId): string {
  return `id:${id}`;
}

/** One page of a list: `page:VARIANT:1`. */
export function pageTarget(variant: string, page: number): string {
  return `page:${variant}:${page}`;
}

/** One page of a parent's list: `child:clients:17:1`. */
export function childTarget(parent: string, id: RecordId, page: number): string {
  return `${childPrefix(parent)}${id}:${page}`;
}

/** What the targets of all pages of the lists of these parents begin with. */
export function childPrefix(parent: string): string {
  return `child:${parent}:`;
}

/** The record that a target is about, or whose list it is; null for a page of a list. */
export function idInTarget(target: string): string | null {
  const [kind, first = "", second = ""] = target.split(":");
  if (kind === "id") return first;
  return kind === "child" ? second : null;
}

/** A target in words: `record 17`, `the list of clients 17`, `page 2 of the list`. */
export function nameOfTarget(target: string): string {
  const [kind, first = "", second = ""] = target.split(":");
  if (kind === "id") return `record ${first}`;
  return kind === "child" ? `the list of ${first} ${second}` : `page ${second} of the list`;
}

/**
 * Is it the first read of an event? Only that may use the share of the budget that is kept for events: rechecks,
 * dependents and further attempts have a time when they are due.
 */
export function isUrgent({ lane, dueAtMs = 0 }: Pick<WorkItem, "lane" | "dueAtMs">): boolean {
  return lane === "webhook" && dueAtMs === 0;
}

export function readyItems(counts: readonly { readonly state: string; readonly count: number }[]): number {
  return counts.reduce((sum, { state, count }) => sum + (state === "ready" ? count : 0), 0);
}
