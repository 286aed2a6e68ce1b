import { sourcesOf, type Resource } from "../../connector/resource.ts";
import { sweepKey, type BegunList } from "../../state/sweeps.ts";
import type { RunContext } from "../context/run-context.ts";
import { chooseLists, dueLists, planSweeps, type Unfinished } from "./chosen-lists.ts";
import { childList, queueSweep } from "./list-reads.ts";
import { queueOwners, queueQuarantined } from "./read-reasons.ts";
import { withdrawScrub } from "./scrub.ts";

/**
 * Queues what a run begins with: lists and parents' lists; dead letters and quarantined details are tried again. What a run that was killed
 * left of its scrub is taken back: this run plans its own. Runs inside the transaction that writes the run's row.
 */
export function addInitialWork(run: RunContext, unfinished: Unfinished | null): void {
  const { queue, listings, resources } = run;
  withdrawScrub(queue, run.mirror.meta);
  queue.endQuick();
  queue.revive(run.names, run.share);
  queueQuarantined(run);
  queueOwners(run);
  const plan = planSweeps(listsOfRun(run), unfinished, run.startedAtMs);
  for (const { resource, variant } of plan.abandoned) {
    queue.drop(resource, `page:${variant}:`);
    listings.close(resource, variant);
  }
  for (const list of plan.trusted) noteBegun(run, list);
  beginLists(run, plan.begin);
  for (const [name, pages] of run.wholePages) if (pages === 0) queue.holdWholeList(name);
  for (const resource of resources) addParents(run, resource, unfinished !== null);
}

/** A list of which pages are queued is open: all of them are ready now. One whose first page was not read yet begins now. */
function listsOfRun(run: RunContext) {
  const { queue, listings, resources, startedAtMs, wholePages } = run;
  const listsOf = chooseLists(run);
  return resources.flatMap((one) =>
    listsOf(one).map((variant) => {
      const { name: resource } = one;
      const isOpen = queue.isAnyReady(resource, `page:${variant}:`);
      const startedAt = listings.find(resource, variant)?.startedAt;
      const sinceMs = startedAt === undefined ? startedAtMs : Date.parse(startedAt);
      const inParts = variant === "" && wholePages.has(resource);
      return { resource, variant, openSinceMs: isOpen ? sinceMs : null, inParts };
    }),
  );
}

/**
 * Begins the lists that grew old while the run reads other things, however much else is waiting. Between reads, in
 * a transaction of its own. One that is still being read is left to its end.
 *
 * @returns whether there is more to read
 */
export function refreshLists(run: RunContext): boolean {
  const { clock, queue, begunLists, mirror } = run;
  const nowMs = clock.nowMs();
  const due = dueLists(begunLists.values(), nowMs)
    .filter(({ resource, variant }) => !queue.isAnyReady(resource, `page:${variant}:`))
    .map((list) => ({ ...list, begunMs: nowMs }));
  if (due.length === 0) return false;
  mirror.apply(() => beginLists(run, due));
  const names = due.map(({ resource }) => resource).join(", ");
  run.log.info(`Reading lists again that grew old during this run: ${names}`);
  return true;
}

/** A list that was read whole before takes turns with details that wait; one that never was comes before them. */
function beginLists(run: RunContext, lists: readonly BegunList[]): void {
  const { queue, runs, names } = run;
  const detailsWait = queue.hasDetails(names);
  const swept = runs.sweptTimes();
  for (const list of lists) {
    noteBegun(run, list);
    queueSweep(run, list, detailsWait && swept.has(sweepKey(list.resource, list.variant)));
  }
}

/** A list that is read over several runs is read again when its plan says so, not when its reading is old. */
function noteBegun({ begunLists, wholePages }: RunContext, list: BegunList): void {
  if (list.variant === "" && wholePages.has(list.resource)) return;
  begunLists.set(sweepKey(list.resource, list.variant), list);
}

/**
 * Parents that the mirror knows and whose lists this run reads, beside those that the scrub chooses. What the runs that it
 * continues read or left in the queue is of the same share.
 */
function addParents(run: RunContext, child: Resource, isResumed: boolean): void {
  if (child.list.kind !== "parents") return;
  const { parents, parentReads } = run;
  const { beforeRun, left } = parentReads;
  const names = sourcesOf(child);
  const taken = isResumed ? parents.countListed(child.name, beforeRun) + parents.countQueued(child.name) : 0;
  const due = parents.stalest(child.name, names, Math.max(0, left - taken), beforeRun);
  parentReads.left = left - taken - due.length;
  for (const parent of due) run.queue.addIfAbsent(childList(run, child.name, parent));
}
