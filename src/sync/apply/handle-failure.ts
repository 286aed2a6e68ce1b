import { messageOf, MirrorError } from "../../base/errors.ts";
import { InvalidError, ServiceError } from "../../connector/service-errors.ts";
import type { Resource } from "../../connector/resource.ts";
import { parentIdOf, recordOf, type ChildPayload, type PagePayload } from "../../extract/work-request.ts";
import type { ReadStamp } from "../../store/apply/read-stamp.ts";
import { pageTarget, recordTarget, type WorkItem } from "../../state/work-item.ts";
import { probeRoute } from "../deletion/route-probe.ts";
import { isNews, isOfEvent, settleEvents } from "./complete-events.ts";
import type { Consequence } from "../retry/failure-outcome.ts";
import { deletionVerdict } from "../deletion/deletion-proof.ts";
import { retryDelayMs, smallerPages } from "../context/limits.ts";
import { queueDependents } from "../plan/dependents.ts";
import { removeRecord } from "../deletion/removal.ts";
import { mayRemove, type RunContext } from "../context/run-context.ts";
import { holdMassDelete } from "./complete-listing.ts";

type Settled = Exclude<Consequence, { kind: "stop" | "drain" }>;

/** Does what a failed read means for its row; inside the door's transaction. */
export function handleFailure(
  session: RunContext,
  resource: Resource,
  work: WorkItem,
  error: unknown,
  reading: ReadStamp,
  what: Settled,
): void {
  const { queue, clock } = session;
  switch (what.kind) {
    case "gone":
      settleGone(session, resource, work, error as ServiceError, reading);
      return;
    case "ask parent":
      askParent(session, work, error, reading);
      return;
    case "smaller page":
      shrinkPage(session, resource, work, error);
      return;
    case "hold":
      hold(session, resource, what.why, error);
      return;
    case "retry":
      queue.failed(work, messageOf(error), clock.nowMs() + what.afterMs);
      return;
    case "postpone":
      queue.postpone(work, messageOf(error), clock.nowMs() + what.afterMs);
      return;
    case "dead":
      bury(session, work, error);
  }
}

function settleGone(
  session: RunContext,
  resource: Resource,
  work: WorkItem,
  error: ServiceError,
  reading: ReadStamp,
): void {
  const verdict = deletionVerdict(session, resource, error, recordOf(work));
  if (verdict.kind === "gone") takeGone(session, resource, work, reading);
  else if (verdict.kind === "unproven")
    bury(session, work, new MirrorError("protocol", `not removed: ${verdict.why}`));
  else {
    const givenUp = probeRoute(session, resource, work, verdict.canaries, reading);
    if (givenUp) bury(session, work, givenUp);
  }
}

function takeGone(session: RunContext, resource: Resource, work: WorkItem, reading: ReadStamp): void {
  const { queue, manifest, mirror, removals } = session;
  const id = recordOf(work);
  const wasLive = mirror.records.isLive(resource.name, id);
  // Who is missing from a list was counted when asked for; what follows from a deletion is none of its own.
  const counts = wasLive && (work.kind !== "confirm" || isOfEvent(manifest, work));
  if (counts && !mayRemove(session, resource.name, 1)) {
    holdMassDelete(session, resource, 1 + removals.count(resource.name));
    queue.failed(work, "held: a mass deletion", null);
    return;
  }
  if (!removeRecord(session, resource, id, reading)) return;
  queue.done(work, reading.sentSeq);
  const outcome = wasLive ? "deleted" : "absent";
  const settled = settleEvents(session, work, reading, outcome);
  if (wasLive && isNews(manifest, work, outcome, settled))
    queueDependents(session, resource, id, reading, outcome);
}

function askParent(session: RunContext, work: WorkItem, error: unknown, reading: ReadStamp): void {
  const payload = work.payload as ChildPayload;
  if (work.attempts >= 2 || !session.selected.has(payload.parent)) {
    bury(session, work, error);
    return;
  }
  const { queue, clock } = session;
  queue.failed(work, messageOf(error), clock.nowMs() + retryDelayMs(work.attempts + 1));
  queue.add({
    kind: "confirm",
    resource: payload.parent,
    target: recordTarget(parentIdOf(payload)),
    lane: "list",
    reason: "child list refused",
    dirtySeq: reading.receivedSeq,
  });
}

function shrinkPage(session: RunContext, resource: Resource, work: WorkItem, error: unknown): void {
  const payload = work.payload as PagePayload;
  const own = resource.list.kind === "paged" ? resource.list.perPage : 0;
  const smaller = smallerPages.find((size) => size < (payload.perPage ?? own));
  if (smaller === undefined) {
    hold(session, resource, "failed", error);
    return;
  }
  const { queue, log, mirror } = session;
  log.warn(
    `${resource.name}: the service refuses ${payload.perPage ?? own} records per page; asking for ${smaller}`,
  );
  queue.drop(resource.name, `page:${payload.variant}:`);
  queue.add({
    kind: "list",
    resource: resource.name,
    target: pageTarget(payload.variant, 1),
    lane: "list",
    reason: "sweep",
    payload: { ...payload, page: 1, perPage: smaller },
    dirtySeq: mirror.sequence.next(),
  });
}

/** Closed to us, or refused in a way that trying again cannot mend; other resources go on. */
function hold(session: RunContext, resource: Resource, why: "failed" | "forbidden", error: unknown): void {
  session.queue.hold(resource.name, messageOf(error), session.share);
  session.tally.of(resource.name).failed += 1;
  session.tally.trouble({ resource: resource.name, kind: why, ...wordsOf(error) });
}

/** A dead letter: kept, shown, and given another chance by the next run. */
function bury(session: RunContext, work: WorkItem, error: unknown): void {
  session.queue.failed(work, messageOf(error), null);
  session.tally.of(work.resource).failed += 1;
  const words = wordsOf(error);
  const message = `${work.target} was given up: ${words.message}`;
  session.tally.trouble({ resource: work.resource, kind: "dead", ...words, message });
  // Nobody reads the report of a work without an end.
  if (session.run === null)
    session.afterCommit.push(() =>
      session.log.warn(`${work.resource} ${message}`, { request_id: words.requestId }),
    );
}

function wordsOf(error: unknown): { message: string; hint?: string; requestId: string | null } {
  const hint = error instanceof MirrorError && error.hint !== undefined ? { hint: error.hint } : {};
  const said = error instanceof InvalidError ? ` ${JSON.stringify(error.fields)}` : "";
  return { message: messageOf(error) + said, ...hint, requestId: requestIdOf(error) };
}

export function requestIdOf(error: unknown): string | null {
  return error instanceof ServiceError ? error.requestId : null;
}
