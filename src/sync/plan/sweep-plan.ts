import type { Lane } from "../../base/lane.ts";
import type { Resource } from "../../connector/resource.ts";
import { sweepKey } from "../../state/sweeps.ts";
import { pageTarget, type NewWorkItem } from "../../state/work-item.ts";
import { resumeWithinMs, trustPauseMs } from "../context/limits.ts";

/** What an earlier run left unfinished; null where the last one ended. */
export interface Unfinished {
  readonly run: number;
  readonly startedAtMs: number;
  /** By `sweepKey`: when a list that was read whole was begun, epoch milliseconds. */
  readonly sweptAtMs: Readonly<Record<string, number>>;
}

export interface SweepPlan {
  readonly seeds: readonly NewWorkItem[];
  /** Sweeps begun too long ago: what is left of them is dropped before they are seeded anew. */
  readonly abandoned: readonly { readonly resource: string; readonly variant: string }[];
}

/** The lists that a resource is swept by. */
export function variantsOf(resource: Resource): readonly string[] {
  if (resource.list.kind === "paged") return [""];
  if (resource.list.kind === "whole") return resource.list.variants?.values ?? [""];
  return [];
}

/**
 * Pure: which lists a run begins with. A run that follows an interrupted one goes on with its open
 * sweeps and does not repeat those it had finished; those finished long before are read again, but after
 * everything else, so that a budget of a few requests a night still gets through.
 */
export function planSweeps(
  resources: readonly Resource[],
  unfinished: Unfinished | null,
  openSweeps: ReadonlySet<string>,
  nowMs: number,
  dirtySeq: number,
): SweepPlan {
  const seeds: NewWorkItem[] = [];
  const abandoned: { resource: string; variant: string }[] = [];
  const resumes = unfinished !== null && nowMs - unfinished.startedAtMs <= resumeWithinMs;
  for (const resource of resources) {
    for (const variant of variantsOf(resource)) {
      const key = sweepKey(resource.name, variant);
      const sweptAtMs = resumes ? unfinished.sweptAtMs[key] : undefined;
      if (resumes && openSweeps.has(key)) continue;
      if (!resumes && openSweeps.has(key)) abandoned.push({ resource: resource.name, variant });
      if (sweptAtMs !== undefined && nowMs - sweptAtMs <= trustPauseMs) continue;
      seeds.push(firstPage(resource.name, variant, sweptAtMs === undefined ? "list" : "scrub", dirtySeq));
    }
  }
  return { seeds, abandoned };
}

export function firstPage(resource: string, variant: string, lane: Lane, dirtySeq: number): NewWorkItem {
  return {
    kind: "list",
    resource,
    target: pageTarget(variant, 1),
    lane,
    reason: "sweep",
    payload: { variant, page: 1 },
    dirtySeq,
  };
}
