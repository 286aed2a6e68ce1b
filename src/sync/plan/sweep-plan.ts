import { elapsedSince } from "../../base/clock.ts";
import type { Resource } from "../../connector/resource.ts";
import type { RunRow } from "../../state/runs.ts";
import { sweepKey, variantsOf, type BegunList } from "../../state/sweeps.ts";
import { listAgeMs } from "../context/limits.ts";

/** The run before this one, if it was interrupted: when each list was begun that it read whole. */
export type Unfinished = Pick<RunRow, "id" | "swept">;

/** What the plan depends on. */
export interface SweepQuestion {
  readonly unfinished: Unfinished | null;
  /** Lists of which pages are still in the queue, by `sweepKey`: when they were begun, epoch ms. */
  readonly openSweeps: ReadonlyMap<string, number>;
  /** Resources whose whole list several runs read, whether they end early or not. @default none */
  readonly inParts?: ReadonlyMap<string, number>;
  /** The lists that are read of a resource. @default all that show the whole of it */
  readonly listsOf?: (resource: Resource) => readonly string[];
  readonly nowMs: number;
}

/** Requests that the lists of a resource with so many records take. Pure. */
export function listRequests(resource: Resource, records: number): number {
  const { list } = resource;
  if (list.kind === "single") return 1;
  if (list.kind === "walked") return Math.max(Math.min(records, 1), Math.floor(records / list.pageSize)) + 1;
  return list.kind === "paged" ? Math.max(1, Math.ceil(records / list.perPage)) : variantsOf(resource).length;
}

/**
 * Which lists a run begins with. Pure.
 *
 * A run that follows an interrupted one repeats none of its complete lists until they are due, and continues its
 * open ones however long ago they began: with a budget too small for a list in one night, the list would else never
 * come to its end. Those that took so long are due as soon as they are complete.
 *
 * @returns `begin`: lists to read from their first page; `abandoned`: those of them that are open, to be dropped
 *   first; `trusted`: all others, as `dueLists` takes them
 */
export function planSweeps(resources: readonly Resource[], question: SweepQuestion) {
  const { unfinished, openSweeps, inParts, listsOf = variantsOf, nowMs } = question;
  const begin: BegunList[] = [];
  const abandoned: BegunList[] = [];
  const trusted: BegunList[] = [];
  for (const resource of resources) {
    for (const variant of listsOf(resource)) {
      const key = sweepKey(resource.name, variant);
      const open = openSweeps.get(key);
      const swept = unfinished?.swept[key];
      const begunMs = open ?? (swept === undefined ? null : Date.parse(swept));
      const list = { resource: resource.name, variant, begunMs: begunMs ?? nowMs };
      const isContinued = unfinished !== null || (variant === "" && inParts?.has(resource.name));
      const isTrusted = isContinued && begunMs !== null && (open !== undefined || !isDue(list, nowMs));
      if (isTrusted) trusted.push(list);
      else begin.push({ ...list, begunMs: nowMs });
      if (!isTrusted && open !== undefined) abandoned.push(list);
    }
  }
  return { begin, abandoned, trusted };
}

/** Resources of which a run that continues the unfinished one reads no list: all were read, and none is due. Pure. */
export function listsRead(
  resources: readonly Resource[],
  unfinished: Unfinished | null,
  nowMs: number,
): ReadonlySet<string> {
  const { begin, trusted } = planSweeps(resources, { unfinished, openSweeps: new Map(), nowMs });
  const unread = new Set(begin.map(({ resource }) => resource));
  return new Set(trusted.map(({ resource }) => resource).filter((name) => !unread.has(name)));
}

/** Lists that a run reads once more, because their last reading began too long ago. Pure. */
export function dueLists(lists: Iterable<BegunList>, nowMs: number): BegunList[] {
  return [...lists].filter((list) => isDue(list, nowMs));
}

function isDue({ begunMs }: BegunList, nowMs: number): boolean {
  return elapsedSince(begunMs, nowMs) >= listAgeMs;
}
