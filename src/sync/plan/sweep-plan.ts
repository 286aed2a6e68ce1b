import type { Resource } from "../../connector/resource.ts";
import type { RunRow } from "../../state/runs.ts";
import { sweepKey } from "../../state/sweeps.ts";
import type { NewWorkItem } from "../../state/work-item.ts";
import { resumeWithinMs, trustPauseMs } from "../context/limits.ts";
import { sweepWork } from "./read-reasons.ts";

/** The run before this one, if it was interrupted: when it began, and each list that it read whole. */
export type Unfinished = Pick<RunRow, "id" | "startedAt" | "swept">;

/** What the plan depends on. */
export interface SweepQuestion {
  readonly unfinished: Unfinished | null;
  /** Lists of which pages are still in the queue, by `sweepKey`. */
  readonly openSweeps: ReadonlySet<string>;
  readonly nowMs: number;
  readonly dirtySeq: number;
}

/** The lists that show all of a resource: one, one per variant, or none where it has no list of its own. */
export function variantsOf(resource: Resource): readonly string[] {
  if (resource.list.kind === "paged") return [""];
  if (resource.list.kind === "whole") return resource.list.variants?.values ?? [""];
  return [];
}

/**
 * Which lists a run begins with. Pure.
 *
 * A run that follows an interrupted one continues its open sweeps and does not repeat its complete ones. Those
 * that were complete long before are read again, but after everything else: a budget of a few requests a
 * night still gets to the end.
 *
 * @returns the first pages to read, and the open sweeps to drop first because they began too long ago
 */
export function planSweeps(
  resources: readonly Resource[],
  { unfinished, openSweeps, nowMs, dirtySeq }: SweepQuestion,
) {
  const firstPages: NewWorkItem[] = [];
  const abandoned: { resource: string; variant: string }[] = [];
  const resumes = unfinished !== null && nowMs - Date.parse(unfinished.startedAt) <= resumeWithinMs;
  for (const resource of resources) {
    for (const variant of variantsOf(resource)) {
      const key = sweepKey(resource.name, variant);
      const sweptAt = resumes ? unfinished.swept[key] : undefined;
      if (resumes && openSweeps.has(key)) continue;
      if (!resumes && openSweeps.has(key)) abandoned.push({ resource: resource.name, variant });
      if (sweptAt !== undefined && nowMs - Date.parse(sweptAt) <= trustPauseMs) continue;
      const lane = sweptAt === undefined ? "list" : "scrub";
      firstPages.push(sweepWork(resource.name, { variant }, lane, dirtySeq));
    }
  }
  return { firstPages, abandoned };
}
