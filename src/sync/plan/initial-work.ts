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
  const { queue, listings, mirror, resources } = run;
  queue.revive(run.names, run.share);
  const openSweeps = resources.flatMap(({ name }) =>
    queue.targets(name, "list").map((target) => sweepKey(name, target.split(":").slice(1, -1).join(":"))),
  );
  const plan = planSweeps(resources, {
    unfinished,
    openSweeps: new Set(openSweeps),
    nowMs: run.startedAtMs,
    dirtySeq: mirror.sequence.next(),
  });
  for (const { resource, variant } of plan.abandoned) {
    queue.drop(resource, `page:${variant}:`);
    listings.close(resource, variant);
  }
  for (const page of plan.firstPages) queue.add(page);
  for (const resource of resources) addParents(run, resource);
  if (!run.full) addScrub(run, scrubAllowance);
}

/**
 * Parents whose own list this run does not read are taken from the mirror. Where parents are spread over
 * several runs, the stalest known ones are chosen.
 */
function addParents(run: RunContext, child: Resource): void {
  if (child.list.kind !== "parents") return;
  const { mirror, parentBudget, selected } = run;
  const dirtySeq = mirror.sequence.next();
  const names = child.list.parents.map(({ resource }) => resource);
  const parents = parentBudget
    ? run.parents.stalest(child.name, names, parentBudget.left)
    : names
        .filter((name) => !selected.has(name))
        .flatMap((resource) => mirror.records.liveIds(resource).map((id) => ({ resource, id })));
  if (parentBudget) parentBudget.left -= parents.length;
  for (const parent of parents) queueChildList(run, child, parent, dirtySeq);
}

/** Changes that only details show are found by reading the oldest details again. */
function addScrub(run: RunContext, allowance: number): void {
  const beforeMs = run.startedAtMs - scrubAgeMs;
  const { records } = run.mirror;
  const oldest = run.resources
    .filter(({ gives }) => gives === "preview")
    .flatMap(({ name: resource }) =>
      records.oldestDetails(resource, beforeMs, allowance).map((detail) => ({ ...detail, resource })),
    );
  for (const detail of oldest.toSorted((a, b) => a.readAtMs - b.readAtMs).slice(0, allowance))
    queueScrub(run, detail);
}
