import type { Lane } from "../base/lane.ts";
import type { RecordId } from "../base/ids.ts";

/** What is to be fetched. `confirm` is a detail read for a record that a list no longer shows. */
export type WorkKind = "list" | "detail" | "child" | "confirm" | "file";

/** One thing still to be fetched, as it is added: (resource, target) names it. */
export interface NewWorkItem {
  readonly kind: WorkKind;
  readonly resource: string;
  readonly target: string;
  readonly lane: Lane;
  /** Why: `new`, `changed`, `absent`, `cascade`, `scrub`, an event's type. */
  readonly reason: string;
  readonly payload?: unknown;
  /** Wall clock; 0 is now. */
  readonly dueAtMs?: number;
  /** The sequence number of the reason: only a read sent after it is an answer to it (I4). */
  readonly dirtySeq: number;
}

export interface WorkItem extends NewWorkItem {
  readonly id: number;
  readonly attempts: number;
}

export function recordTarget(id: RecordId): string {
  return `id:${id}`;
}

export function pageTarget(variant: string, page: number): string {
  return `page:${variant}:${page}`;
}

/** A parent's list: `child:clients:17:1`. */
export function childTarget(parent: string, id: RecordId, page: number): string {
  return `child:${parent}:${id}:${page}`;
}

/**
 * An event's own first read. What follows from it, second looks and further attempts are due at a time, and wait
 * for the budget like anything else: the share that is kept for events is not theirs.
 */
export function isUrgent({ lane, dueAtMs = 0 }: Pick<WorkItem, "lane" | "dueAtMs">): boolean {
  return lane === "webhook" && dueAtMs === 0;
}
