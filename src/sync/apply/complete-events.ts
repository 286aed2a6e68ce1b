import { isoTime } from "../../base/clock.ts";
import type { EventOutcome, CompletedEvent } from "../../state/inbox/inbox.ts";
import type { AnswerContext } from "../context/run-context.ts";
import { isRecheck, queueRecheck } from "../plan/read-reasons.ts";

/** Was this read queued by an event, and not by a list or another record? */
export function isOfEvent({ run, item: { reason } }: AnswerContext): boolean {
  return isRecheck(reason) || run.mirror.manifest.events.some(({ type }) => type === reason);
}

/**
 * Must dependents be read after this read, whatever it found? A recheck that found nothing is no news. An item whose reason was
 * replaced since is still its event's: that it completed one shows it.
 *
 * @param completed how many events the read completed
 */
export function isNews(answer: AnswerContext, outcome: EventOutcome, completed: number): boolean {
  if (isRecheck(answer.item.reason)) return completed > 0 || outcome !== "unchanged";
  return completed > 0 || isOfEvent(answer);
}

/**
 * Completes the events that came before the read was sent, with its outcome (I4), and queues the recheck. Runs
 * inside the apply transaction, after the work item was removed.
 *
 * @returns how many events were completed
 */
export function completeEvents(answer: AnswerContext, outcome: EventOutcome): number {
  const { run, item, stamp } = answer;
  const { requestId, receivedAtMs, sentSeq } = stamp;
  const at = isoTime(receivedAtMs);
  const events = run.inbox.complete(item.resource, item.target, sentSeq, { outcome, requestId, at });
  if (events.length > 0) run.afterCommit.push(() => logEvents(answer, outcome, events));
  queueRecheck(answer, events.length);
  return events.length;
}

const mostLogged = 3;

function logEvents(answer: AnswerContext, outcome: EventOutcome, events: readonly CompletedEvent[]): void {
  const { run, item, stamp } = answer;
  const { resource, target } = item;
  const types = new Set(events.map(({ type }) => type));
  const ids = events.slice(0, mostLogged).map(({ eventId }) => eventId);
  run.log.info(`${resource} ${target}: ${outcome}, after ${events.length === 1 ? "an event" : "events"}`, {
    resource,
    id: target.slice("id:".length),
    outcome,
    request_id: stamp.requestId,
    events: events.length,
    type: [...types].slice(0, mostLogged).join(", "),
    webhook_id: ids.join(", "),
  });
}
