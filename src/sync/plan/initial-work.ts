import type { RecordId } from "../../base/ids.ts";
import type { Resource } from "../../connector/resource.ts";
import { recordTarget } from "../../state/work-item.ts";
import { addChildList } from "../apply/listed-record.ts";
import { scrubAgeMs } from "../context/limits.ts";
import { sweepKey } from "../../state/sweeps.ts";
import { planSweeps, type Unfinished } from "./sweep-plan.ts";
import type { RunContext } from "../context/run-context.ts";

/** Everything a run begins with; inside the transaction that writes its row. */
export function addInitialWork(
  session: RunContext,
  unfinished: Unfinished | null,
  scrubAllowance: number,
): void {
  const { queue, listings, mirror } = session;
  const resources = [...session.selected.values()];
  queue.revive(
    resources.map((resource) => resource.name),
    session.share,
  );
  const open = openSweeps(session, resources);
  const plan = planSweeps(resources, unfinished, open, session.startedAtMs, mirror.sequence.next());
  for (const { resource, variant } of plan.abandoned) {
    queue.drop(resource, `page:${variant}:`);
    listings.close(resource, variant);
  }
  for (const seed of plan.seeds) queue.add(seed);
  for (const resource of resources) seedParents(session, resource);
  if (!session.full) seedScrub(session, resources, scrubAllowance);
}

function openSweeps(session: RunContext, resources: readonly Resource[]): Set<string> {
  const keys = new Set<string>();
  for (const resource of resources) {
    for (const target of session.queue.targets(resource.name, "list")) {
      keys.add(sweepKey(resource.name, target.split(":").slice(1, -1).join(":")));
    }
  }
  return keys;
}

/**
 * Parents whose own list this run does not read are taken from the mirror. Where parents are spread over
 * runs, the stalest of those known are chosen here.
 */
function seedParents(session: RunContext, child: Resource): void {
  if (child.list.kind !== "parents") return;
  const { mirror, parentBudget } = session;
  const dirtySeq = mirror.sequence.next();
  if (!parentBudget) {
    for (const { resource: parent } of child.list.parents) {
      if (session.selected.has(parent)) continue;
      for (const id of mirror.records.liveIds(parent)) addChildList(session, child, parent, id, 1, dirtySeq);
    }
    return;
  }
  const most = parentBudget.left;
  const known = child.list.parents.flatMap(({ resource: parent }) =>
    session.parents.stalest(child.name, parent, most).map((one) => ({ ...one, parent })),
  );
  const stalest = known.toSorted((a, b) => (a.listedAtMs ?? 0) - (b.listedAtMs ?? 0)).slice(0, most);
  parentBudget.left -= stalest.length;
  for (const { parent, id } of stalest) addChildList(session, child, parent, id, 1, dirtySeq);
}

/** What only details show is found by reading the oldest of them again. */
function seedScrub(session: RunContext, resources: readonly Resource[], allowance: number): void {
  const beforeMs = session.startedAtMs - scrubAgeMs;
  const oldest: { resource: string; id: RecordId; readAtMs: number }[] = [];
  for (const resource of resources) {
    if (resource.gives !== "preview") continue;
    const details = session.mirror.records.oldestDetails(resource.name, beforeMs, allowance);
    oldest.push(...details.map((detail) => ({ ...detail, resource: resource.name })));
  }
  const chosen = oldest.toSorted((a, b) => a.readAtMs - b.readAtMs).slice(0, allowance);
  for (const { resource, id } of chosen) {
    session.queue.add({
      kind: "detail",
      resource,
      target: recordTarget(id),
      lane: "scrub",
      reason: "scrub",
      dirtySeq: session.mirror.sequence.next(),
    });
  }
}
