import type { RecordId } from "../../base/ids.ts";
import { snakeCase } from "../../base/names.ts";
import type { Resource } from "../../connector/resource.ts";
import type { PageFacts } from "../../extract/page-facts.ts";
import { parentIdOf, type ChildPayload, type PagePayload } from "../../extract/work-request.ts";
import type { Listing } from "../../state/listings.ts";
import type { ListRef } from "../../state/sweeps.ts";
import type { ScrubCandidate } from "../../state/scrub-candidates.ts";
import { childTarget, pageTarget, recordTarget, type NewWorkItem } from "../../state/work-item.ts";
import { mostOrphans } from "../context/limits.ts";
import { childrenOf, type AnswerContext, type ReadContext, type RunContext } from "../context/run-context.ts";
import { giveBackScrub } from "./scrub-facts.ts";

/** A record by its resource's name and its id. */
export interface RecordRef {
  readonly resource: string;
  readonly id: RecordId;
}

/*
 * Every reason to read, as `_work.reason` stores it: those in `recordReads`, and
 *
 * An event's type      a webhook asks for its record: `webhook/ingest/follow-ups.ts`, one row per record
 * recheck              queueRecheck: an event's record, a minute after its read
 * sweep                queueSweep, queueOtherPages, queueSweepAgain, queueOtherForm
 * parent               queueChildList, queueOtherPages: the list of a parent record
 * scrub                queueScrub: what was read longest ago, where lists show not all
 *
 * Each says why it can neither loop nor flood the queue (Guard). One guard holds for all: the queue keeps one row
 * per (resource, target), so a record or page that is queued twice is read once. Besides, `WorkQueue.revive`
 * makes dead letters ready again, once per run.
 */

/** Reasons to read one record, with the kind of read and its lane where no event led to it. */
const recordReads = {
  /** A list shows a preview of a record without its detail. Guard: an applied detail ends it. */
  new: { kind: "detail", lane: "hydration" },
  /** A preview differs from the detail applied last. Guard: the detail that is applied now ends it. */
  changed: { kind: "detail", lane: "changed" },
  /** A full run reads every detail. Guard: not one that was read since the first of the runs it continues began. */
  full: { kind: "detail", lane: "hydration" },
  /** Two reads overlapped and differ: nobody knows which is newer (I3). Guard: the next is sent after both. */
  overlapped: { kind: "detail", lane: "changed" },
  /**
   * A complete list did not show the record: a reason to ask, not to delete (I5).
   * Guard: a list is completed once in `listAgeMs`, and the guard against mass deletions limits the number.
   */
  absent: { kind: "confirm", lane: "changed" },
  /** No parent's list can show the record: the mirror has no parent. Guard: `mostOrphans` per completed list. */
  "no parent": { kind: "confirm", lane: "changed" },
  /** Its parent was deleted, so the parent's list cannot be read. Guard: a record is deleted once. */
  "parent gone": { kind: "confirm", lane: "changed" },
  /** It referred to a deleted record: a deleted status changes its cases. Guard: a record is deleted once. */
  cascade: { kind: "detail", lane: "changed" },
  /** Its list of children was refused: is it deleted? Guard: the list is tried `mostAttempts` times at most. */
  "child list refused": { kind: "confirm", lane: "list" },
  /** It should exist: does its route answer 200 (I5)? Guard: `deletion/route-probe.ts` reads a few per trial. */
  "route probe": { kind: "confirm", lane: "list" },
  /** Another record changed. Guard: `queueDependents` in `dependents.ts`. */
  "changed with another": { kind: "detail", lane: "changed" },
} as const satisfies Record<string, Pick<NewWorkItem, "kind" | "lane">>;

/**
 * Queues the read of one record; what an event leads to goes to the lane of events. Only a read that is sent from
 * now on answers the reason: one that is under way may have seen an older state.
 */
export function queueRecord(
  { run, stamp }: ReadContext,
  reason: keyof typeof recordReads,
  { resource, id }: RecordRef,
  more: Pick<NewWorkItem, "payload" | "dueAtMs" | "rank"> = {},
): void {
  const { kind, lane: usual } = recordReads[reason];
  const lane = stamp.cause === "webhook" ? "webhook" : usual;
  const target = recordTarget(id);
  run.queue.add({ kind, resource, target, lane, reason, ...more, dirtySeq: stamp.receivedSeq });
}

/** Queues a record that reads overlapped on. One without a route of its own is read again with its list. */
export function queueOverlapped(read: ReadContext, resource: Resource, id: RecordId): void {
  if (resource.detail !== undefined) queueRecord(read, "overlapped", { resource: resource.name, id });
}

const recheckAfterMs = 60_000;
/** Reads that only test a route. Mirrors of older versions hold `canary`. */
const routeProbes = new Set(["route probe", "canary"]);

/** Is this the second read of an event's record? Mirrors of older versions hold `second look`. */
export function isRecheck(reason: string): boolean {
  return reason === "recheck" || reason === "second look";
}

type Sweep = Omit<PagePayload, "page">;

/**
 * The first page of a list. Pure.
 * Guard: only the functions below queue it.
 */
export function sweepWork(resource: string, sweep: Sweep, dirtySeq: number): NewWorkItem {
  return listPage(resource, { ...sweep, page: 1 }, dirtySeq);
}

/** The rank of a list that takes turns with details; others come before them. */
const inTurnRank = 1;

/**
 * A list from its first page.
 * Guard: a run begins each list once, and again `listAgeMs` after it began.
 *
 * @param inTurn whether details are read in between
 */
export function queueSweep(run: RunContext, { resource, variant }: ListRef, inTurn: boolean): void {
  const work = sweepWork(resource, { variant }, run.mirror.sequence.next());
  run.queue.add({ ...work, rank: inTurn ? inTurnRank : 0 });
}

function listPage(resource: string, payload: PagePayload, dirtySeq: number): NewWorkItem {
  const target = pageTarget(payload.variant, payload.page);
  return { kind: "list", resource, target, lane: "list", reason: "sweep", payload, dirtySeq };
}

function childPage(resource: string, payload: ChildPayload, dirtySeq: number): NewWorkItem {
  const target = childTarget(payload.parent, parentIdOf(payload), payload.page);
  const rank = -Number(payload.parentId);
  return { kind: "child", resource, target, lane: "hydration", rank, reason: "parent", payload, dirtySeq };
}

/**
 * Pages 2 to `pages` of a list or of a parent's list. The last page is read first: a deletion then cannot move
 * an unread row into a page already read.
 * Guard: only the answer to page 1 queues pages, and `pageFacts` refuses an absurd number of them.
 */
export function queueOtherPages(
  { run, resource, item, stamp }: AnswerContext,
  { pages, perPage }: Pick<PageFacts, "pages" | "perPage">,
): void {
  const { list } = resource;
  const isSmaller = (list.kind === "paged" || list.kind === "parents") && perPage < list.perPage;
  const form = { ...run.listForms.get(resource.name)?.form, ...(isSmaller && { perPage }) };
  const payload = { ...form, ...(item.payload as PagePayload | ChildPayload) };
  for (let page = pages; page > 1; page--) {
    const work =
      "parent" in payload
        ? childPage(item.resource, { ...payload, page }, stamp.sentSeq)
        : listPage(item.resource, { ...payload, page }, stamp.sentSeq);
    run.queue.add({ ...work, ...placeOf(item) });
  }
}

/** What follows from a page is read when the page itself was. */
function placeOf({ lane, rank = 0, reason }: NewWorkItem): Pick<NewWorkItem, "lane" | "rank" | "reason"> {
  return { lane, rank, reason };
}

/**
 * A list that changed while it was read, once more.
 * Guard: the caller counts the attempts, `mostSweeps` at most.
 */
export function queueSweepAgain({ run, resource, item, stamp }: AnswerContext, listing: Listing): void {
  const next = { attempt: listing.attempt + 1 };
  run.log.info(`${resource.name}: the list changed while it was read. Reading it again.`, next);
  const sweep = { variant: listing.variant, ...next };
  run.queue.add({ ...sweepWork(resource.name, sweep, stamp.receivedSeq), ...placeOf(item) });
}

/**
 * A list from its first page, asked for in another form; its other pages are dropped.
 * Guard: each form asks for less than the one before it (`otherListForm`).
 */
export function queueOtherForm({ run, resource, item }: AnswerContext): void {
  const { perPage: _size, unsorted: _order, ...payload } = item.payload as PagePayload | ChildPayload;
  run.queue.drop(resource.name, item.target.slice(0, item.target.lastIndexOf(":") + 1));
  const dirtySeq = run.mirror.sequence.next();
  const work =
    "parent" in payload
      ? childPage(resource.name, { ...payload, page: 1 }, dirtySeq)
      : sweepWork(resource.name, payload, dirtySeq);
  run.queue.add({ ...work, ...placeOf(item) });
}

/**
 * The list of one parent record.
 * Guard: parents are queued at the start of a run and when their own list shows them the first time, within
 * `parentReads`. The records of a parent's list are parents of nothing.
 */
export function queueChildList(run: RunContext, child: Resource, parent: RecordRef): void {
  const payload = { parent: parent.resource, parentId: String(parent.id), page: 1 };
  run.queue.add(childPage(child.name, payload, run.mirror.sequence.next()));
}

/** Read in the order in which they are queued. */
const scrubbed = { lane: "scrub", rank: 0, reason: "scrub" } as const;

/**
 * An old detail or list of a parent, for changes that no list shows. False: it is queued for another reason.
 * Guard: the allowance of a day, and `scrubAgeMs` since the last read.
 */
export function queueScrub({ queue, mirror }: RunContext, { source, id }: ScrubCandidate): boolean {
  const { table, listOf } = source;
  const dirtySeq = mirror.sequence.next();
  if (listOf !== null) {
    const payload = { parent: table, parentId: String(id), page: 1 };
    return queue.addIfAbsent({ ...childPage(listOf, payload, dirtySeq), ...scrubbed });
  }
  return queue.addIfAbsent({
    kind: "detail",
    resource: table,
    target: recordTarget(id),
    dirtySeq,
    ...scrubbed,
  });
}

/** Takes back what the scrub queued and nobody read. Returns its number. */
export function withdrawScrub({ queue, mirror }: RunContext): number {
  const left = queue.withdraw(scrubbed.lane, scrubbed.reason);
  giveBackScrub(mirror.meta, left);
  return left;
}

/** Queues records that no parent's list can show, once the parents' own list is complete. */
export function queueOrphans(answer: AnswerContext): void {
  const { run } = answer;
  for (const { resource, link } of childrenOf(run, answer.resource.name)) {
    const all = resource.list.kind === "parents" ? resource.list.parents : [];
    const links = all.map((one) => ({ parent: one.resource, column: snakeCase(one.field) }));
    const column = snakeCase(link.field);
    for (const id of run.mirror.records.liveWithoutParent(resource.name, column, links, mostOrphans))
      queueRecord(answer, "no parent", { resource: resource.name, id });
  }
}

/**
 * The record of an event once more, a minute after its read: the event may have been sent before its own
 * transaction was committed at the service.
 * Guard: a recheck and a route probe queue no recheck, and a record that is queued anyway gets none.
 */
export function queueRecheck({ run, item, stamp }: AnswerContext): void {
  if (item.lane !== "webhook" || isRecheck(item.reason) || routeProbes.has(item.reason)) return;
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
