import type { Clock } from "../../base/clock.ts";
import type { RecordId } from "../../base/ids.ts";
import type { Resource } from "../../connector/resource.ts";
import { recordTarget } from "../../state/work-item.ts";
import type { WorkQueue } from "../../state/work-queue.ts";
import { itemRetryDelayMs } from "../context/limits.ts";
import type { AnswerContext, ProbeTrial, RouteProofs, RunContext } from "../context/run-context.ts";
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
  const { asked } = trialOf(run, resource);
  const current = asked.at(-1);
  const isOther = current !== undefined && recordTarget(current) !== item.target;
  if (!isOther || !queue.isReady(resource.name, recordTarget(current))) {
    const others = candidates.filter((candidate) => !asked.includes(candidate));
    // A record that is queued anyway may be read by another worker, whose proof this run does not see.
    const next = others.find((one) => !queue.isReady(resource.name, recordTarget(one))) ?? others[0];
    if (next === undefined || asked.length >= mostProbes)
      return `GET ${resource.detail} returned 404 also for records that exist, so 404 proves nothing`;
    asked.push(next);
    queueRecord(answer, "route probe", { resource: resource.name, id: next });
  }
  queue.postpone(item, waiting, clock.nowMs() + itemRetryDelayMs(item.attempts));
  return null;
}

/** Records that the route answered 200: from now on its 404s count, and items that waited for this are due. */
export function markRouteProven(run: RunContext, resource: Resource): void {
  run.provenRoutes.add(resource.name);
  if (run.probeTrials.delete(resource.name)) run.queue.expedite(resource.name, waiting);
}

function trialOf({ probeTrials, clock }: RunContext, resource: Resource): ProbeTrial {
  const nowMs = clock.nowMs();
  const known = probeTrials.get(resource.name);
  if (known && nowMs - known.sinceMs <= trialForMs) return known;
  const trial = { asked: [], sinceMs: nowMs };
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
