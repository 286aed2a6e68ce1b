import type { RecordId } from "../../base/ids.ts";
import { MirrorError } from "../../base/errors.ts";
import type { Resource } from "../../connector/resource.ts";
import type { ReadStamp } from "../../store/apply/read-stamp.ts";
import { recordTarget, type WorkItem } from "../../state/work-item.ts";
import { canaryReason } from "../apply/complete-events.ts";
import { retryDelayMs } from "../context/limits.ts";
import type { ProbeTrial, RunContext } from "../context/run-context.ts";

const mostCanaries = 3;
/** Nobody is asked again so soon after all of them answered 404. */
const trialForMs = 10 * 60_000;
const waiting = "waiting for proof of the route";

/**
 * Records that are there as far as anyone knows: those that this run's own list showed, or else live ones of
 * the mirror. What a whole list of this run did not show is none.
 */
export function probeCandidates(session: RunContext, resource: Resource, id: RecordId): readonly RecordId[] {
  const listed = session.probeCandidates.get(resource.name);
  return listed ?? session.queue.routeProbes(session.mirror.records, resource.name, id);
}

/**
 * The row waits until one of the canaries answers; null when it does, or a reason to give up. One canary at a
 * time for each resource; inside the door's transaction.
 */
export function probeRoute(
  session: RunContext,
  resource: Resource,
  work: WorkItem,
  canaries: readonly RecordId[],
  reading: ReadStamp,
): MirrorError | null {
  const { queue, clock } = session;
  const { asked } = trialOf(session, resource);
  const now = asked.at(-1);
  const isAsked = now !== undefined && recordTarget(now) !== work.target;
  if (!isAsked || !queue.isReady(resource.name, recordTarget(now))) {
    const others = canaries.filter((canary) => !asked.includes(canary));
    // One that is to be read anyway may be another's to read, whose proof nobody here hears of.
    const next = others.find((canary) => !queue.isReady(resource.name, recordTarget(canary))) ?? others[0];
    if (next === undefined || asked.length >= mostCanaries) return givenUp();
    asked.push(next);
    queue.add({
      kind: "confirm",
      resource: resource.name,
      target: recordTarget(next),
      lane: work.lane === "webhook" ? "webhook" : "list",
      reason: canaryReason,
      dirtySeq: reading.receivedSeq,
    });
  }
  queue.postpone(work, waiting, clock.nowMs() + retryDelayMs(work.attempts));
  return null;
}

/** A record came on its own route: a 404 on that route now counts, and who waited for that goes on. */
export function markRouteProven(session: RunContext, resource: Resource): void {
  session.provenRoutes.add(resource.name);
  if (session.probeTrials.delete(resource.name)) session.queue.expedite(resource.name, waiting);
}

function trialOf({ probeTrials: canaryTrials, clock }: RunContext, resource: Resource): ProbeTrial {
  const nowMs = clock.nowMs();
  const known = canaryTrials.get(resource.name);
  if (known && nowMs - known.sinceMs <= trialForMs) return known;
  const trial = { asked: [], sinceMs: nowMs };
  canaryTrials.set(resource.name, trial);
  return trial;
}

function givenUp(): MirrorError {
  return new MirrorError("protocol", "not removed: records that should be there answer 404 as well");
}
