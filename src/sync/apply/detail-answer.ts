import { isoTime } from "../../base/clock.ts";
import { recordId, type RecordId } from "../../base/ids.ts";
import { ProtocolError } from "../../connector/service-errors.ts";
import { readDetail, readParts } from "../../extract/answers.ts";
import { recordOf } from "../../extract/work-request.ts";
import type { EventOutcome } from "../../state/inbox/inbox.ts";
import { leftOutKey } from "../../state/sweeps.ts";
import type { IncomingRecord } from "../../store/apply/read-stamp.ts";
import type { AnswerContext, ReadContext } from "../context/run-context.ts";
import { ownedBy, ownerColumns, ownerKey, removeOrReread, markRouteProven } from "../deletion/deletion.ts";
import { queueDependents } from "../plan/dependents.ts";
import { queueOverlapped, queueRecheck } from "../plan/read-reasons.ts";
import { retries } from "../../retry/retry-limits.ts";

/**
 * Applies a record as its own route gives it, and the records it owns, inside the apply transaction.
 *
 * @throws ProtocolError when the body is not the record that was asked for. One that does not say which record it is,
 *   is taken when nothing else is missing, and goes into quarantine with the last attempt otherwise.
 */
export function applyDetail(answer: AnswerContext, body: Buffer): void {
  const { run, resource, item, stamp } = answer;
  const id = recordOf(item);
  const { slice, withoutId } = readDetail(body, id);
  if (!withoutId) markRouteProven(run, resource);
  const { listed } = (item.payload ?? {}) as Pick<IncomingRecord, "listed">;
  const result = run.mirror
    .table(resource.name)
    .put({ stamp, id, slice, withoutId, source: "detail", listed });
  // An answer that is no record may be a passing one: it is kept in quarantine once the attempts are used up.
  if (withoutId && result === "quarantined" && item.attempts + 1 < retries.read.attempts)
    throw new ProtocolError(`${item.target} was requested, and no such record came`, { retryable: true });
  run.tally.count(resource.name, result);
  const { differences } = run.mirror;
  if (differences.hasStopped(resource.name))
    run.queue.dropDiffering(resource.name, differences.uncompared(resource.name));
  // The answer was not used, so the reason to read stands: the work item stays and is read again (I4).
  if (result === "stale") return;
  if (result !== "quarantined") applyOwned(answer, id, slice);
  run.queue.done(item, stamp.sentSeq);
  // A provisional row does not show what else its record changes: its detail is its arrival.
  const outcome = result === "hydrated" ? "inserted" : result;
  const completed = completeEvents(answer, outcome);
  queueDependents(answer, { id, outcome, isNews: isNews(answer, outcome, completed) });
}

/** The owner's detail holds the complete set of owned records: others are deleted. */
function applyOwned(answer: AnswerContext, id: RecordId, slice: Buffer): void {
  const { run, resource: owner, stamp } = answer;
  for (const { field, resource: name } of run.mirror.table(owner.name).plan.owned) {
    const owned = run.selected.get(name);
    const parts = readParts(slice, field);
    if (!owned && parts && parts.length > 0) run.mirror.meta.note(leftOutKey(name), 1);
    const overrides = owned && ownerColumns(owned, owner, id);
    if (!parts || !overrides) continue;
    const table = run.mirror.table(name);
    const seen = new Set<RecordId | string>();
    for (const part of parts) {
      const partId = idOrQuarantine(answer, name, part, ownerKey({ resource: owner.name, id }));
      seen.add(partId);
      if (typeof partId === "string") continue;
      const result = table.put({ stamp, id: partId, slice: part.slice, source: "list", overrides });
      run.tally.of(name).listed += 1;
      run.tally.count(name, result);
      if (result === "stale") queueOverlapped(answer, owned, partId);
    }
    run.mirror.quarantine.releaseWithoutId(name, seen, ownerKey({ resource: owner.name, id }));
    // A record without an id may be any of those that are not shown.
    if ([...seen].some((one) => typeof one === "string")) continue;
    const missing = ownedBy(run, owned, owner, id).filter((one) => !seen.has(one));
    removeOrReread(answer, owned, missing);
  }
}

/**
 * The id of a record in an answer. A record without a usable one is kept in quarantine, and its key there is
 * returned, a text: it has no place in a table, but nothing is dropped (I12).
 */
export function idOrQuarantine(
  { run, stamp }: ReadContext,
  resource: string,
  record: { readonly id: string | null; readonly slice: Buffer },
  owner = "",
): RecordId | string {
  const id = record.id === null ? null : recordId(record.id);
  if (id !== null) return id;
  const reason = "the record has no usable id";
  const kept = { resource, id, reason, json: record.slice.toString() };
  const key = run.mirror.quarantine.add(stamp, kept, owner);
  const seen = run.withoutId.get(resource) ?? new Set();
  run.withoutId.set(resource, seen.add(key));
  run.tally.of(resource).failed += 1;
  return key;
}

/** Was this read queued by an event, and not by a list or another record? */
export function isOfEvent({ run, item: { reason } }: AnswerContext): boolean {
  return reason === "recheck" || run.mirror.declaration.events.some(({ type }) => type === reason);
}

/**
 * Must dependents be read after this read, whatever it found? A recheck that found nothing is no news. An item whose reason was
 * replaced since is still its event's: that it completed one shows it.
 *
 * @param completed how many events the read completed
 */
export function isNews(answer: AnswerContext, outcome: EventOutcome, completed: number): boolean {
  if (answer.item.reason === "recheck") return completed > 0 || outcome !== "unchanged";
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

function logEvents(
  answer: AnswerContext,
  outcome: EventOutcome,
  events: readonly { readonly eventId: string; readonly type: string }[],
): void {
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
