import type { RecordId } from "../../base/ids.ts";
import type { Lane } from "../../base/lane.ts";
import { snakeCase } from "../../base/names.ts";
import type { Resource } from "../../connector/resource.ts";
import { parentIdOf, type ChildPayload, type PagePayload } from "../../extract/work-request.ts";
import type { EventOutcome } from "../../state/inbox/inbox.ts";
import type { Listing } from "../../state/listings.ts";
import { childTarget, pageTarget, recordTarget, type NewWorkItem } from "../../state/work-item.ts";
import type { ListedAs } from "../../store/apply/read-stamp.ts";
import { mostOrphans } from "../context/limits.ts";
import { childrenOf, type AnswerContext, type ReadContext, type RunContext } from "../context/run-context.ts";
import { dependentsOf, ownersOf, type RecordRef } from "./dependents.ts";

/*
 * Every reason to read, as `_work.reason` stores it, and the function that queues it. Each function says why
 * it can neither loop nor flood the queue (Guard). One guard holds for all: the queue keeps one row per
 * (resource, target), so a record or page that is queued twice is read once.
 *
 * An event's type      a webhook asks for its record: `webhook/ingest/follow-ups.ts`, one row per record
 * recheck              queueRecheck: an event's record, a minute after its read
 * changed with another queueDependents: another record changed
 * sweep                sweepWork, queueOtherPages, queueSweepAgain, queueFreshSweep, queueSmallerPages
 * parent               queueChildList, queueOtherPages: the list of a parent record
 * new, changed, full   queueDetail: a preview without its detail, or in a full run
 * scrub                queueScrub: the oldest details
 * overlapped           queueOverlapped: two reads of a record overlapped
 * absent               queueAbsent: a complete list does not show the record
 * no parent            queueOrphans: the mirror has no parent of the record
 * parent gone          queueChildOfDeleted: its parent was deleted
 * cascade              queueCascade: a record it refers to was deleted
 * child list refused   queueParentCheck: does the parent still exist?
 * route probe          queueRouteProbe: does the route answer 200 for a record that exists?
 *
 * Besides, `WorkQueue.revive` makes dead letters ready again, once per run.
 */

const recheckAfterMs = 60_000;

/** Is this the second read of an event's record? Mirrors of older versions hold `second look`. */
export function isRecheck(reason: string): boolean {
  return reason === "recheck" || reason === "second look";
}

/** Does this read only test a route? Mirrors of older versions hold `canary`. */
function isRouteProbe(reason: string): boolean {
  return reason === "route probe" || reason === "canary";
}

/**
 * The first page of a list. Pure.
 * Guard: a run begins each list once; only the functions below begin it again.
 */
export function sweepWork(resource: string, variant: string, lane: Lane, dirtySeq: number): NewWorkItem {
  const target = pageTarget(variant, 1);
  return { kind: "list", resource, target, lane, reason: "sweep", payload: { variant, page: 1 }, dirtySeq };
}

/**
 * Pages 2 to `pages` of a list or of a parent's list. The last page is read first: a deletion then cannot move
 * an unread row into a page already read.
 * Guard: only the answer to page 1 queues pages, and `pageFacts` refuses an absurd number of them.
 */
export function queueOtherPages({ run, resource, item, stamp }: AnswerContext, pages: number): void {
  const { kind, reason } = item;
  const payload = item.payload as PagePayload | ChildPayload;
  for (let page = pages; page > 1; page--) {
    run.queue.add({
      kind,
      resource: resource.name,
      target:
        "parent" in payload
          ? childTarget(payload.parent, parentIdOf(payload), page)
          : pageTarget(payload.variant, page),
      lane: "list",
      reason,
      payload: { ...payload, page },
      dirtySeq: stamp.sentSeq,
    });
  }
}

/**
 * A list that changed while it was read, once more.
 * Guard: the caller counts the attempts, `mostSweeps` at most.
 */
export function queueSweepAgain({ run, resource, stamp }: AnswerContext, listing: Listing): void {
  const { variant } = listing;
  const attempt = listing.attempt + 1;
  run.log.info(`${resource.name}: the list changed while it was read. Reading it again.`, { attempt });
  const first = sweepWork(resource.name, variant, "list", stamp.receivedSeq);
  run.queue.add({ ...first, payload: { variant, page: 1, attempt } });
}

/**
 * A list whose sweep was resumed after a long pause, once more and after everything else.
 * Guard: a sweep that begins in this run is never resumed by it.
 */
export function queueFreshSweep({ run, resource, stamp }: AnswerContext, variant: string): void {
  run.queue.add(sweepWork(resource.name, variant, "scrub", stamp.receivedSeq));
}

/**
 * A list from its first page, with fewer records per page; its other pages are dropped.
 * Guard: each size is smaller than the one before, and there are five.
 */
export function queueSmallerPages({ run, resource, item }: AnswerContext, perPage: number): void {
  const payload = item.payload as PagePayload;
  run.queue.drop(resource.name, `page:${payload.variant}:`);
  const first = sweepWork(resource.name, payload.variant, "list", run.mirror.sequence.next());
  run.queue.add({ ...first, payload: { ...payload, page: 1, perPage } });
}

/**
 * The list of one parent record.
 * Guard: parents are queued at the start of a run and when its own list shows them the first time, within
 * `parentBudget` where there is one. The records of a parent's list are parents of nothing.
 */
export function queueChildList(run: RunContext, child: Resource, parent: RecordRef, dirtySeq: number): void {
  run.queue.add({
    kind: "child",
    resource: child.name,
    target: childTarget(parent.resource, parent.id, 1),
    lane: "list",
    reason: "parent",
    payload: { parent: parent.resource, parentId: String(parent.id), page: 1 },
    dirtySeq,
  });
}

/**
 * The detail of a record of which a list shows a preview only.
 * Guard: the preview is compared with the detail applied last, so an applied detail ends it. Without a
 * difference only a full run reads, once.
 */
export function queueDetail(
  answer: AnswerContext,
  id: RecordId,
  difference: { readonly reason: "new" | "changed"; readonly listed: ListedAs } | null,
): void {
  const reason = difference?.reason ?? "full";
  const payload = difference ? { listed: difference.listed } : undefined;
  queueRecord(answer, { kind: "detail", resource: answer.resource.name, id, reason, payload });
}

/**
 * An old detail, for changes that no list shows.
 * Guard: the run's allowance, and `scrubAgeMs` since the last read.
 */
export function queueScrub(run: RunContext, { resource, id }: RecordRef): void {
  const dirtySeq = run.mirror.sequence.next();
  const target = recordTarget(id);
  run.queue.add({ kind: "detail", resource, target, lane: "scrub", reason: "scrub", dirtySeq });
}

/**
 * A record of which two reads overlapped and differ: nobody knows which is newer (I3). A record without a
 * route of its own is read again with its list.
 * Guard: the next read is sent after both and overlaps with neither.
 */
export function queueOverlapped(read: ReadContext, resource: Resource, id: RecordId): void {
  if (resource.detail === undefined) return;
  queueRecord(read, { kind: "detail", resource: resource.name, id, reason: "overlapped" });
}

/**
 * A record that a complete list did not show: absence is a reason to ask, not to delete (I5).
 * Guard: a list is completed once per run, and the guard against mass deletions limits the number.
 */
export function queueAbsent(answer: AnswerContext, id: RecordId): void {
  queueRecord(answer, { kind: "confirm", resource: answer.resource.name, id, reason: "absent" });
}

/**
 * Records that no parent's list can show, because the mirror does not have their parent. They are checked once
 * the parents' own list is complete.
 * Guard: `mostOrphans` per completed list.
 */
export function queueOrphans(answer: AnswerContext): void {
  const { run } = answer;
  for (const { resource, link } of childrenOf(run, answer.resource.name)) {
    const all = resource.list.kind === "parents" ? resource.list.parents : [];
    const links = all.map((one) => ({ parent: one.resource, column: snakeCase(one.field) }));
    const column = snakeCase(link.field);
    for (const id of run.mirror.records.liveWithoutParent(resource.name, column, links, mostOrphans))
      queueRecord(answer, { kind: "confirm", resource: resource.name, id, reason: "no parent" });
  }
}

/**
 * A record whose parent was deleted: the parent's list can no longer be read.
 * Guard: a record is deleted once.
 */
export function queueChildOfDeleted(read: ReadContext, child: RecordRef): void {
  queueRecord(read, { kind: "confirm", ...child, reason: "parent gone" });
}

/**
 * A record that referred to a deleted one: a deleted status changes its cases.
 * Guard: a record is deleted once.
 */
export function queueCascade(read: ReadContext, dependent: RecordRef): void {
  queueRecord(read, { kind: "detail", ...dependent, reason: "cascade" });
}

/**
 * A parent whose list was refused: a deleted parent answers 404 or 422 there.
 * Guard: the refused list is tried `mostAttempts` times at most.
 */
export function queueParentCheck(answer: AnswerContext): void {
  const payload = answer.item.payload as ChildPayload;
  const parent = { resource: payload.parent, id: parentIdOf(payload) };
  queueRecord(answer, { kind: "confirm", ...parent, reason: "child list refused", lane: "list" });
}

/**
 * A record that should exist, to see whether its route answers 200 (I5).
 * Guard: a few records per trial and resource, one at a time; `deletion/route-probe.ts` counts them.
 */
export function queueRouteProbe(answer: AnswerContext, id: RecordId): void {
  const lane = answer.item.lane === "webhook" ? "webhook" : "list";
  queueRecord(answer, { kind: "confirm", resource: answer.resource.name, id, reason: "route probe", lane });
}

/**
 * The record of an event once more, a minute after its read: the event may have been sent before its own
 * transaction was committed at the service.
 * Guard: a recheck and a route probe queue no recheck, and a record that is queued anyway gets none.
 */
export function queueRecheck({ run, item, stamp }: AnswerContext): void {
  if (item.lane !== "webhook" || isRecheck(item.reason) || isRouteProbe(item.reason)) return;
  run.queue.addIfAbsent({
    kind: item.kind,
    resource: item.resource,
    target: item.target,
    lane: "webhook",
    reason: "recheck",
    dueAtMs: stamp.receivedAtMs + recheckAfterMs,
    dirtySeq: stamp.receivedSeq,
  });
}

/**
 * Records that change with this one although no event says so: a payment or credit note that came or went
 * changes what is left to pay of its document. Owners are read at once like an event's own record, the rest is
 * due from now on and so comes after events.
 * Guard: the caller asks for news only (`isNews`); the read of a dependent is no news, so it ends here.
 */
export function queueDependents(read: AnswerContext, id: RecordId, outcome: EventOutcome): void {
  const changed = { resource: read.resource, id, outcome };
  for (const owner of ownersOf(read.run, changed)) queueDependent(read, owner, 0);
  for (const one of dependentsOf(read.run, changed)) queueDependent(read, one, read.stamp.receivedAtMs);
}

function queueDependent(read: ReadContext, dependent: RecordRef, dueAtMs: number): void {
  if (!read.run.selected.has(dependent.resource)) return;
  queueRecord(read, { kind: "detail", ...dependent, reason: "changed with another", dueAtMs });
}

interface RecordRead extends RecordRef {
  readonly kind: "detail" | "confirm";
  readonly reason: string;
  /** @default `webhook` for what an event leads to, else `hydration` */
  readonly lane?: Lane;
  readonly payload?: unknown;
  readonly dueAtMs?: number;
}

/** Only a read that is sent from now on answers the reason: one that is under way may have seen an older state. */
function queueRecord({ run, stamp }: ReadContext, { id, ...read }: RecordRead): void {
  const lane = stamp.cause === "webhook" ? "webhook" : "hydration";
  run.queue.add({ lane, ...read, target: recordTarget(id), dirtySeq: stamp.receivedSeq });
}
