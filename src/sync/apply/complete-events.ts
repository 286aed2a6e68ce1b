import { isoTime } from "../../base/clock.ts";
import type { Lane } from "../../base/lane.ts";
import type { Manifest } from "../../connector/connector-manifest.ts";
import type { ReadStamp } from "../../store/apply/read-stamp.ts";
import type { Outcome, SettledEvent } from "../../state/inbox/inbox.ts";
import type { WorkItem } from "../../state/work-item.ts";
import type { RunContext } from "../context/run-context.ts";

/** The reason of a read that was made before, because its event may have come before its own commit. */
const secondLook = "second look";
const secondLookAfterMs = 60_000;

/** Asks whether a route answers; no reason of its own. */
export const canaryReason = "canary";

/** Is an event behind this read, and not the word of a list or of another record? */
export function isOfEvent(manifest: Manifest, { reason }: Pick<WorkItem, "reason">): boolean {
  return reason === secondLook || manifest.events.some(({ type }) => type === reason);
}

/**
 * Does this read tell something that others hang on? A second look that found nothing does not. A row that got
 * another reason since is its event's all the same: that it settled one says so.
 */
export function isNews(manifest: Manifest, work: WorkItem, outcome: Outcome, settled: number): boolean {
  if (work.reason === secondLook) return settled > 0 || outcome !== "unchanged";
  return settled > 0 || isOfEvent(manifest, work);
}

/** What an event leads to is in its lane, too. */
export function followUpLane(reading: ReadStamp): Lane {
  return reading.cause === "webhook" ? "webhook" : "hydration";
}

/**
 * The record was read: events that came before the read was sent are settled with what it came to (I4), and
 * it is read once more a minute later. Inside the transaction that applies the read, after its row was done.
 * Gives how many were settled.
 */
export function settleEvents(
  session: RunContext,
  work: WorkItem,
  reading: ReadStamp,
  outcome: Outcome,
): number {
  const { requestId, receivedAtMs, sentSeq } = reading;
  const settlement = { outcome, requestId, at: isoTime(receivedAtMs) };
  const settled = session.inbox.settle(work.resource, work.target, sentSeq, settlement);
  if (settled.length > 0) session.afterCommit.push(() => tell(session, work, settlement, settled));
  if (work.lane !== "webhook" || work.reason === secondLook || work.reason === canaryReason)
    return settled.length;
  session.queue.lookAgain({
    kind: work.kind,
    resource: work.resource,
    target: work.target,
    lane: "webhook",
    reason: secondLook,
    dueAtMs: receivedAtMs + secondLookAfterMs,
    dirtySeq: reading.receivedSeq,
  });
  return settled.length;
}

const mostTold = 3;

function tell(
  { log }: RunContext,
  { resource, target }: WorkItem,
  { outcome, requestId }: { readonly outcome: Outcome; readonly requestId: string | null },
  settled: readonly SettledEvent[],
): void {
  log.info(`${resource} ${target}: ${outcome}, as ${settled.length === 1 ? "an event" : "events"} asked`, {
    resource,
    id: target.slice("id:".length),
    fate: outcome,
    request_id: requestId,
    events: settled.length,
    type: [...new Set(settled.map(({ type }) => type))].slice(0, mostTold).join(", "),
    webhook_id: settled
      .slice(0, mostTold)
      .map(({ eventId }) => eventId)
      .join(", "),
  });
}
