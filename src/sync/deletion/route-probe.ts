import type { Clock } from "../../base/clock.ts";
import { recordId, type RecordId } from "../../base/ids.ts";
import { snakeCase } from "../../base/names.ts";
import type { Resource } from "../../connector/resource.ts";
import { recordOf } from "../../extract/work-request.ts";
import { childTarget, longestDelayMs, recordTarget } from "../../state/work-item.ts";
import type { BegunList } from "../../state/sweeps.ts";
import type { WorkQueue } from "../../state/work-queue.ts";
import { itemRetryDelayMs } from "../context/limits.ts";
import type { AnswerContext, ProbeTrial, RouteProofs, RunContext } from "../context/run-context.ts";
import { queueChildList, queueStaleList } from "../plan/list-reads.ts";
import { queueRecord } from "../plan/read-reasons.ts";

const mostProbes = 3;
/** After all probes of a trial answered 404, the next trial begins this much later. */
const trialForMs = 10 * 60_000;
/** How long a 200 proves its route to others than the run that read it. */
const provenForMs = 10 * 60_000;
/** Stored in `_work.error` of the items that wait. */
const waiting = "waiting for proof of the route";

/**
 * Postpones the work item until a route probe has answered, one probe at a time per resource. Runs inside the
 * apply transaction.
 *
 * @param candidates records that should exist
 * @returns null while a probe is queued, else why the deletion stays unproven
 */
export function probeRoute(answer: AnswerContext, candidates: readonly RecordId[]): string | null {
  const { run, resource, item } = answer;
  const { queue, clock } = run;
  const { asked, spread, sinceMs } = trialOf(run, resource, candidates);
  const current = asked.at(-1);
  const isOther = current !== undefined && recordTarget(current) !== item.target;
  if (!isOther || !queue.isReady(resource.name, recordTarget(current))) {
    const others = [...spread, ...candidates].filter(
      (candidate) => !asked.includes(candidate) && recordTarget(candidate) !== item.target,
    );
    // A record that is queued anyway may be read by another worker, whose proof this run does not see.
    const next = others.find((one) => !queue.isReady(resource.name, recordTarget(one))) ?? others[0];
    if (next === undefined || asked.length >= mostProbes) {
      if (!parentListsAgain(answer, asked) && !listAgain(run, resource))
        return asked.length > 0
          ? `GET ${resource.detail} returned 404 also for records that exist, so 404 proves nothing`
          : "nothing but a 404 says that the record is gone, and no other one proves the route";
      // Behind the list: many items that wait would use up the budget before it.
      queue.postpone(item, waiting, clock.nowMs() + longestDelayMs, "changed");
      return null;
    }
    asked.push(next);
    // Before the others of its lane: each of them that is asked first is asked twice.
    queueRecord(answer, "route probe", { resource: resource.name, id: next }, { rank: -1 });
  }
  // Until the proof, or for as long again as the trial lasts.
  const forMs = Math.max(itemRetryDelayMs(item.attempts), clock.nowMs() - sinceMs);
  queue.postpone(item, waiting, clock.nowMs() + Math.min(forMs, longestDelayMs));
  return null;
}

/**
 * The records that should exist are from lists of parents that an earlier run read: they may be gone, too. The lists of
 * their parents, and of this record's, are read again, each once per run.
 *
 * @returns whether one is being read
 */
function parentListsAgain({ run, resource, item }: AnswerContext, asked: readonly RecordId[]): boolean {
  const { queue, listedAgain, mirror, runId } = run;
  const { name, list } = resource;
  if (list.kind !== "parents" || runId === null) return false;
  for (const { resource: parent, field } of list.parents) {
    const ids = [recordOf(item), ...asked].flatMap((id) =>
      mirror.records
        .texts(name, id, [snakeCase(field)])
        .flatMap((text) => (text === null ? null : recordId(text)) ?? []),
    );
    for (const id of ids) {
      const key = `${name} ${childTarget(parent, id, 1)}`;
      if (listedAgain.has(key) || !mirror.records.isLive(parent, id)) continue;
      listedAgain.add(key);
      queueChildList(run, resource, { resource: parent, id });
    }
  }
  return queue.isAnyReady(name, "child:");
}

/**
 * The records that should exist are from a list of an earlier run, or of long ago: they may be gone, too. Then the list
 * is read again, once per run. Items that wait are due when a list is complete.
 *
 * @returns whether a list is being read
 */
function listAgain(run: RunContext, { name }: Resource): boolean {
  const nowMs = run.clock.nowMs();
  const lists = [...run.begunLists.values()].filter(({ resource }) => resource === name);
  const isOpen = ({ resource, variant }: BegunList) => run.queue.isAnyReady(resource, `page:${variant}:`);
  if (lists.some(isOpen)) return true;
  const old = lists.filter(({ begunMs }) => begunMs < run.startedAtMs || nowMs - begunMs > trialForMs);
  if (old.length === 0 || run.listedAgain.has(name)) return false;
  run.listedAgain.add(name);
  run.log.info(`${name}: records that should exist are gone. Reading the list again.`);
  for (const list of old) queueStaleList(run, list, nowMs);
  return true;
}

/**
 * A record is gone that only an earlier reading of its list showed: another may stand in its place, and no reading showed
 * that one. The list is read again, once per run.
 */
export function listAgainWithout(run: RunContext, { name }: Resource, id: RecordId): void {
  const list = [...run.joinedLists.values()].find(
    ({ resource, earlier }) => resource === name && earlier.has(id),
  );
  if (!list || run.listedAgain.has(name)) return;
  run.listedAgain.add(name);
  queueStaleList(run, list, run.clock.nowMs());
}

/** A list of this run shows which records exist: items that wait for proof are due, and other probes are tried. */
export function listComplete(run: RunContext, resource: Resource, shown: readonly RecordId[]): void {
  run.probeCandidates.set(resource.name, shown.slice(-mostProbes));
  if (run.probeTrials.delete(resource.name)) run.queue.expedite(resource.name, waiting);
}

/** As `listComplete`, for one of many lists: where it is empty, the last one ends the trial and its waiting. */
export function childListComplete(run: RunContext, resource: Resource, shown: readonly RecordId[]): void {
  if (shown.length > 0) return listComplete(run, resource, shown);
  if (!run.queue.isAnyReady(resource.name, "child:") && run.probeTrials.delete(resource.name))
    run.queue.expedite(resource.name, waiting);
}

/** Records that the route answered 200: from now on its 404s count, and items that waited for this are due. */
export function markRouteProven(run: RunContext, resource: Resource): void {
  run.provenRoutes.add(resource.name);
  if (run.probeTrials.delete(resource.name)) run.queue.expedite(resource.name, waiting);
}

function trialOf(
  { probeTrials, clock }: RunContext,
  resource: Resource,
  spread: readonly RecordId[],
): ProbeTrial {
  const nowMs = clock.nowMs();
  const known = probeTrials.get(resource.name);
  if (known && nowMs - known.sinceMs <= trialForMs) return known;
  const trial = { asked: [], spread, sinceMs: nowMs };
  probeTrials.set(resource.name, trial);
  return trial;
}

const shared = new WeakMap<WorkQueue, Map<string, number>>();

/**
 * Route proofs of all who work on one queue: a run's probe may be read by the event worker. They expire after 10
 * minutes: a route that worked yesterday may be broken today (I5).
 */
export function sharedRouteProofs(queue: WorkQueue, clock: Clock): RouteProofs {
  const provenAtMs = shared.get(queue) ?? new Map<string, number>();
  shared.set(queue, provenAtMs);
  return {
    has: (resource) => clock.monotonicMs() - (provenAtMs.get(resource) ?? -Infinity) <= provenForMs,
    add: (resource) => void provenAtMs.set(resource, clock.monotonicMs()),
  };
}

/** The proofs of one run, valid until it ends, and those of the others on its queue. */
export function runRouteProofs(queue: WorkQueue, clock: Clock): RouteProofs {
  const own = new Set<string>();
  const others = sharedRouteProofs(queue, clock);
  return {
    has: (resource) => own.has(resource) || others.has(resource),
    add: (resource) => [own, others].forEach((proofs) => proofs.add(resource)),
  };
}
