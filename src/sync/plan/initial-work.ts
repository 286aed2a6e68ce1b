import { sweepKey } from "../../state/sweeps.ts";
import type { Resource } from "../../connector/resource.ts";
import { scrubAgeMs } from "../context/limits.ts";
import type { RunContext } from "../context/run-context.ts";
import { queueChildList, queueScrub } from "./read-reasons.ts";
import { planSweeps, type Unfinished } from "./sweep-plan.ts";

/**
 * Queues what a run begins with: lists, parents' lists and the scrub; dead letters are tried again. Runs inside
 * the transaction that writes the run's row.
 *
 * @param scrubAllowance how many old details may be read again
 */
export function addInitialWork(run: RunContext, unfinished: Unfinished | null, scrubAllowance: number): void {
  const { queue, listings, mirror } = run;
  const resources = [...run.selected.values()];
  queue.revive(run.names, run.share);
  const plan = planSweeps(resources, {
    unfinished,
    openSweeps: openSweeps(run, resources),
    nowMs: run.startedAtMs,
    dirtySeq: mirror.sequence.next(),
  });
  for (const { resource, variant } of plan.abandoned) {
    queue.drop(resource, `page:${variant}:`);
    listings.close(resource, variant);
  }
  for (const page of plan.firstPages) queue.add(page);
  for (const resource of resources) addParents(run, resource);
  if (!run.full) addScrub(run, resources, scrubAllowance);
}

function openSweeps({ queue }: RunContext, resources: readonly Resource[]): Set<string> {
  const keys = resources.flatMap(({ name }) =>
    queue.targets(name, "list").map((target) => sweepKey(name, target.split(":").slice(1, -1).join(":"))),
  );
  return new Set(keys);
}

/**
 * Parents whose own list this run does not read are taken from the mirror. Where parents are spread over
 * several runs, the stalest known ones are chosen.
 */
function addParents(run: RunContext, child: Resource): void {
  if (child.list.kind !== "parents") return;
  const { mirror, parentBudget } = run;
  const dirtySeq = mirror.sequence.next();
  if (!parentBudget) {
    for (const { resource } of child.list.parents) {
      if (run.selected.has(resource)) continue;
      for (const id of mirror.records.liveIds(resource))
        queueChildList(run, child, { resource, id }, dirtySeq);
    }
    return;
  }
  const most = parentBudget.left;
  const known = child.list.parents.flatMap(({ resource }) =>
    run.parents.stalest(child.name, resource, most).map((one) => ({ ...one, resource })),
  );
  const stalest = known.toSorted((a, b) => (a.listedAtMs ?? 0) - (b.listedAtMs ?? 0)).slice(0, most);
  parentBudget.left -= stalest.length;
  for (const parent of stalest) queueChildList(run, child, parent, dirtySeq);
}

/** Changes that only details show are found by reading the oldest details again. */
function addScrub(run: RunContext, resources: readonly Resource[], allowance: number): void {
  const beforeMs = run.startedAtMs - scrubAgeMs;
  const oldest = resources
    .filter(({ gives }) => gives === "preview")
    .flatMap(({ name }) =>
      run.mirror.records
        .oldestDetails(name, beforeMs, allowance)
        .map((detail) => ({ ...detail, resource: name })),
    );
  for (const detail of oldest.toSorted((a, b) => a.readAtMs - b.readAtMs).slice(0, allowance))
    queueScrub(run, detail);
}
