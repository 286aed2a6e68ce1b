import type { RecordId, RecordRef } from "../../base/ids.ts";
import type { Resource } from "../../connector/resource.ts";
import type { ScrubCandidate } from "../../state/scrub-candidates.ts";
import { leftOutKey } from "../../state/sweeps.ts";
import { recordTarget, type NewWorkItem, type WorkItem } from "../../state/work-item.ts";
import type { AnswerContext, ReadContext, RunContext } from "../context/run-context.ts";
import { childList, childrenOf } from "./list-reads.ts";

/*
 * Every reason to read, as `_work.reason` stores it: those in `recordReads`, and
 *
 * An event's type      a webhook asks for its record: `webhook/ingest/ingest.ts`, one row per record
 * recheck              queueRecheck: an event's record, a minute after its read
 * sweep, parent        `list-reads.ts`: pages of lists and of parents' lists
 * quick                `quick-reads.ts`: pages of the lists of a quick run
 * quarantined          queueQuarantined: what came last of it cannot become a row
 * scrub                queueScrub: what was read longest ago, where lists show not all
 * repair               `verify --repair`: something is wrong with the record, so it is read again, once per repair
 * repair               `verify/local/repair-locally.ts`: JSON that is lost or damaged
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
  /** It was open, and no list of open records shows it. Guard: `followQuickPage`. */
  closed: { kind: "detail", lane: "changed" },
  /** A full run reads every detail. Guard: not one that was read since the first of the runs it continues began. */
  full: { kind: "detail", lane: "hydration" },
  /** Two reads overlapped and differ: nobody knows which is newer (I3). Guard: the next is sent after both. */
  overlapped: { kind: "detail", lane: "changed" },
  /**
   * A complete list did not show the record: a reason to ask, not to delete (I5).
   * Guard: a list is completed once in `listAgeMs`, and the guard against mass deletions limits the number.
   */
  absent: { kind: "confirm", lane: "changed" },
  /** No parent's list can show the record: the mirror has no parent, or the record names none. Guard: `mostOrphans` per completed list. */
  "no parent": { kind: "confirm", lane: "changed" },
  /** Its parent was deleted, so the parent's list cannot be read. Guard: a record is deleted once. */
  "parent gone": { kind: "confirm", lane: "changed" },
  /** It referred to a deleted record: a deleted status changes its cases. Guard: a record is deleted once. */
  cascade: { kind: "detail", lane: "changed" },
  /** Its list of children was refused, or its parent's, which is left out: is it deleted? Guard: a list's attempts. */
  "child list refused": { kind: "confirm", lane: "list" },
  /** It should exist: does its route answer 200 (I5)? Guard: `deletion/deletion.ts` reads a few per trial. */
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
  const own = run.share === "quick" ? "quick" : usual;
  const isRepaired = stamp.cause === "repair" && run.share === "events";
  const lane = stamp.cause === "webhook" || isRepaired ? "webhook" : own;
  const target = recordTarget(id);
  run.queue.add({ kind, resource, target, lane, reason, ...more, dirtySeq: stamp.receivedSeq });
}

/** Queues a record that reads overlapped on. One without a route of its own is read again with its list. */
export function queueOverlapped(read: ReadContext, resource: Resource, id: RecordId): void {
  if (resource.detail !== undefined) queueRecord(read, "overlapped", { resource: resource.name, id });
}

const recheckAfterMs = 60_000;

/** Is it read because something says that it is gone: its list, its parent or an event? */
export function asksForDeletion({ kind, reason }: WorkItem): boolean {
  return kind === "confirm" && reason !== "route probe";
}

/** Read in the order in which they are queued. */
const scrubbed = { lane: "scrub", rank: 0, reason: "scrub" } as const;

/**
 * An old detail or list of a parent, for changes that no list shows. False: it is queued for another reason.
 * Guard: the allowance of a day, and `scrubAgeMs` since the last read.
 */
export function queueScrub(run: RunContext, { source, id }: ScrubCandidate): boolean {
  const { table, listOf } = source;
  if (listOf !== null)
    return run.queue.addIfAbsent({ ...childList(run, listOf, { resource: table, id }), ...scrubbed });
  return addDetail(run, table, id, scrubbed);
}

function addDetail(
  { queue, mirror }: RunContext,
  resource: string,
  id: RecordId,
  why: Pick<NewWorkItem, "lane" | "rank" | "reason">,
): boolean {
  const read = { kind: "detail", resource, target: recordTarget(id), ...why } as const;
  return queue.addIfAbsent({ ...read, dirtySeq: mirror.sequence.next() });
}

/** Records in quarantine that a run reads again. */
export const mostQuarantined = 100;

/**
 * Details in quarantine once more: what came may have been a passing answer, and no list need show that the row is old.
 * Guard: once per run, `mostQuarantined` of them. Records that a list shows in full are judged anew with their list.
 */
export function queueQuarantined(run: RunContext): void {
  const kept = run.mirror.quarantine.all().flatMap(({ resource: name, recordId: id }) => {
    const resource = run.selected.get(name);
    return resource && id !== null && !isProvenByList(resource) ? [{ name, id }] : [];
  });
  for (const { name, id } of kept.slice(0, mostQuarantined))
    addDetail(run, name, id, { lane: "changed", reason: "quarantined" });
}

/**
 * The details that hold records of others, where a run read some of them without these, which are selected now.
 * Guard: once, until a run leaves them out again.
 */
export function queueOwners({ mirror, queue, resources }: RunContext): void {
  const { meta } = mirror;
  for (const { name, list } of resources) {
    if (list.kind !== "owned" || meta.get(leftOutKey(name)) !== 1) continue;
    meta.set(leftOutKey(name), "queued");
    for (const { resource } of list.by)
      queue.addDetails(resource, { lane: "hydration", reason: "full", dirtySeq: mirror.sequence.next() });
  }
}

/** Call when all that was queued is read. Notes which resources have by now what was left out of them. */
export function noteOwnersRead({ mirror: { meta }, resources, selected }: RunContext): void {
  for (const { name, list } of resources) {
    const isRead = list.kind === "owned" && list.by.every((owner) => selected.has(owner.resource));
    if (isRead && meta.get(leftOutKey(name)) === "queued") meta.set(leftOutKey(name), null);
  }
}

function isProvenByList({ detail, gives, fullWhen, list }: Resource): boolean {
  return detail === undefined || (gives === "full" && fullWhen === undefined && list.kind !== "parents");
}

/** Records without a parent that a run checks at a time: as many as may be removed without permission. */
const mostOrphans = 20;

/** Queues records that no parent's list can show, once the parents' own list is complete. */
export function queueOrphans(answer: AnswerContext): void {
  const { run } = answer;
  for (const { resource, link } of childrenOf(run, answer.resource.name))
    for (const id of run.mirror.records.orphans(resource, link.field, mostOrphans))
      queueRecord(answer, "no parent", { resource: resource.name, id });
}

/** Reasons of lists. In the lane of events they replaced an event's, which the read completes, or that of a recheck. */
const listReasons = new Set(["new", "changed", "closed", "full", "absent", "no parent"]);

/**
 * The record of an event once more, a minute after its read: the event may have been sent before its own
 * transaction was committed at the service.
 * Guard: a recheck that completes no event queues none, and a record that is queued anyway gets none.
 *
 * @param completed how many events the read completed
 */
export function queueRecheck({ run, item, stamp }: AnswerContext, completed: number): void {
  const { kind, resource, target, lane, reason } = item;
  const isOther = ["recheck", "repair", "route probe"].includes(reason) || listReasons.has(reason);
  if (completed === 0 && (lane !== "webhook" || isOther)) return;
  const due = { dueAtMs: stamp.receivedAtMs + recheckAfterMs, dirtySeq: stamp.receivedSeq };
  run.queue.addIfAbsent({ kind, resource, target, lane: "webhook", reason: "recheck", ...due });
}
