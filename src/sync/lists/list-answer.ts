import { isDeepStrictEqual } from "node:util";
import { setImmediate } from "node:timers/promises";
import { isoTime } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { ContradictionError } from "../../connector/service-errors.ts";
import {
  newestStamp,
  readCompanyName,
  readList,
  readObject,
  pageFacts,
  walkedFacts,
  type PageFacts,
} from "../../extract/answers.ts";
import type { ListCut, RecordSlice } from "../../json/cut.ts";
import { parentOf, type ChildPayload, type PagePayload } from "../../extract/work-request.ts";
import { isObject } from "../../json/literal.ts";
import { parseLossless } from "../../json/lossless.ts";
import { changesOf, noteExpected, sweepKey } from "../../state/sweeps.ts";
import { newestFirst } from "../../state/work-item.ts";
import { readHeld } from "../../store/apply/held-record.ts";
import { applyTogether, applyWhenFree, requireRunId } from "../context/run-context.ts";
import type { AnswerContext, ReadContext, RunContext } from "../context/run-context.ts";
import { idOrQuarantine } from "../apply/detail-answer.ts";
import { ownerKey } from "../deletion/deletion.ts";
import { followQuickPage } from "../plan/quick-reads.ts";
import { addListingPage, pagePlace } from "./listing.ts";
import type { RecordId, RecordRef } from "../../base/ids.ts";
import type { Resource } from "../../connector/resource.ts";
import { isShownWhole } from "../../store/apply/previews.ts";
import type { ApplyResult } from "../../store/apply/read-stamp.ts";
import { queueDependents } from "../plan/dependents.ts";
import { childrenOf, queueChildList } from "../plan/list-reads.ts";
import { queueOverlapped, queueRecord } from "../plan/read-reasons.ts";

/** Records per transaction: longer answers are cut, so that other answers are applied in between. */
export const recordsAtOnce = 1_000;

/**
 * Applies one answer of a list or of a parent's list. Its records, what follows from them and the removal of the
 * work item commit together. A long answer commits in parts, the work item with the last: after a crash in between
 * it is read again and finds the rows unchanged (I1, I7).
 *
 * @throws ProtocolError when the body is not a list; ContradictionError when page 1 has no paginator that can be used
 */
export async function applyList(answer: AnswerContext, body: Buffer): Promise<void> {
  const { run, resource, item, stamp } = answer;
  if (resource.list.kind === "single") return applyObject(answer, body);
  const list = readList(body, resource.list);
  const facts = factsOf(answer, list);
  if (!facts)
    return applyWhenFree(run, () => {
      run.queue.done(item, stamp.sentSeq);
      if (run.share !== "quick") addListingPage(answer, null);
    });
  const { variant, page, attempt, again } = pagePlace(item);
  const shown: ShownSoFar = { ids: [], withoutId: [], changes: 0 };
  const firstReading = attempt === 1 && !again;
  const { records } = list;
  let applied = 0;
  for (; records.length - applied > recordsAtOnce; applied += recordsAtOnce) {
    const some = records.slice(applied, applied + recordsAtOnce);
    await applyWhenFree(run, () => applyListed(answer, some, shown));
    await setImmediate();
  }
  const complete = () => {
    applyListed(answer, records.slice(applied), shown);
    // Before the listing is completed: another sweep that it queues is an item of its own.
    run.queue.done(item, stamp.sentSeq);
    if (firstReading) run.tally.of(resource.name).listed += shown.ids.length;
    if (run.share === "quick") return followQuickPage(answer, facts, shown);
    const { kind } = resource.list;
    const changes = changesOf(resource);
    // One answer is the whole list, also where it shows a record twice: what is absent from it is asked for.
    const isWhole = kind === "whole" && resource.detail !== undefined;
    const total = isWhole ? new Set(shown.ids).size + shown.withoutId.length : facts.total;
    if (kind === "paged") run.tally.totals.set(resource.name, total);
    if (kind !== "walked" && item.kind === "list" && page === 1)
      noteExpected(run.mirror.meta, sweepKey(resource.name, variant), total);
    const { newest: before = null } = item.payload as PagePayload;
    const stamps = changes && [before, newestStamp(records, changes.stamp)].filter((one) => one !== null);
    const newest = stamps?.toSorted().at(-1) ?? null;
    addListingPage(answer, { ...facts, ...shown, total, newest });
  };
  await applyTogether(run, complete);
}

function applyObject(answer: AnswerContext, body: Buffer): Promise<void> {
  const { run, resource, item, stamp } = answer;
  const { identity } = run.mirror.declaration;
  // What names no company is another answer than the one that was asked for.
  if (resource.name === identity.resource)
    readCompanyName(body, { path: item.target, field: identity.nameField });
  return applyWhenFree(run, () => {
    applySingle(answer, resource.name, body);
    run.queue.done(item, stamp.sentSeq);
  });
}

/** Applies row 1 of a resource that is one object, inside the apply transaction: its list is read whole. */
export function applySingle({ run, stamp }: ReadContext, resource: string, body: Buffer): void {
  const { tally, mirror, runs, begunLists } = run;
  const begunMs = stamp.receivedAtMs;
  const table = mirror.table(resource);
  const { list } = table.resource;
  const counters = (list.kind === "single" && list.counters) || [];
  const held = counters.length > 0 ? readHeld(table.statements, 1).json : undefined;
  const came = readObject(body);
  const slice = held !== undefined && differsInCounters(held, came, counters) ? Buffer.from(held) : came;
  tally.of(resource).listed = 1;
  tally.count(resource, table.put({ stamp, id: 1, slice, source: "list" }));
  if (run.share === "quick") return;
  tally.swept.add(resource);
  runs.noteSwept(requireRunId(run), resource, isoTime(begunMs));
  begunLists.set(resource, { resource, variant: "", begunMs });
}

function differsInCounters(held: string, came: Buffer, counters: readonly string[]): boolean {
  const rest = (text: string) => {
    const record = parseLossless(text);
    return isObject(record) ? Object.entries(record).filter(([key]) => !counters.includes(key)) : record;
  };
  return isDeepStrictEqual(rest(held), rest(came.toString()));
}

/**
 * Null: a page after the first whose paginator is of another page, or cannot be read. Its records are not used. It is
 * not asked for again: a paginator that does so once does so always.
 */
function factsOf({ run, resource, item }: AnswerContext, { records, paginator }: ListCut): PageFacts | null {
  const { page } = pagePlace(item);
  if (resource.list.kind === "walked")
    return walkedFacts(item.payload as PagePayload, resource.list.pageSize, records.length);
  if (resource.list.kind !== "paged" && resource.list.kind !== "parents")
    return { page: 1, perPage: 0, pages: 1, total: records.length, overstated: false };
  try {
    return pageFacts(paginator, page);
  } catch (error) {
    if (page === 1 || !(error instanceof ContradictionError)) throw error;
    run.log.warn(`${resource.name}: page ${page} of the list ${messageOf(error)}`);
    return null;
  }
}

interface ShownSoFar {
  readonly ids: RecordId[];
  readonly withoutId: string[];
  changes: number;
}

/**
 * Applies some records of a list's answer, inside the apply transaction, and queues what must be read of them:
 * details of previews, lists of new parents.
 *
 * @param shown gets what the records show
 */
function applyListed(answer: AnswerContext, records: readonly RecordSlice[], shown: ShownSoFar) {
  const { run, resource, item } = answer;
  const children = childrenOf(run, resource.name);
  const owner = item.kind === "child" ? ownerKey(parentOf(item.payload as ChildPayload)) : "";
  const found: { readonly id: RecordId; readonly slice: Buffer }[] = [];
  for (const record of records) {
    const id = idOrQuarantine(answer, resource.name, record, owner);
    if (typeof id === "string") shown.withoutId.push(id);
    else found.push({ id, slice: record.slice });
  }
  const ids = found.map(({ id }) => id);
  shown.ids.push(...ids);
  run.mirror.table(resource.name).withFencesOf(ids, () => {
    for (const { id, slice } of found) {
      const result = applyOne(answer, id, slice);
      if (result !== "unchanged") shown.changes += 1;
      const parent = { resource: resource.name, id };
      for (const child of children)
        if (takesParent(run, child.resource, parent, result)) queueChildList(run, child.resource, parent);
    }
  });
}

function applyOne(answer: AnswerContext, id: RecordId, slice: Buffer): ApplyResult {
  const { run, resource, stamp } = answer;
  const table = run.mirror.table(resource.name);
  if (isShownWhole(resource, slice)) {
    const result = table.put({ stamp, id, slice, source: "list" });
    run.tally.count(resource.name, result);
    const outcome = result === "hydrated" ? "inserted" : result;
    if (outcome === "stale") queueOverlapped(answer, resource, id);
    else queueDependents(answer, { id, outcome, isNews: false });
    return result;
  }
  const { result, read } = table.putPreview({ stamp, id, slice });
  const isWanted = read !== null || (run.full && isDetailOlder(answer, id));
  if (result !== "unchanged" || !isWanted) run.tally.count(resource.name, result);
  if (!isWanted) return result;
  const payload = read ? { listed: read.listed } : undefined;
  const more = { payload, rank: newestFirst(id) };
  queueRecord(answer, read?.reason ?? "full", { resource: resource.name, id }, more);
  return result;
}

/**
 * Was the detail read before this run and those that it continues? A full run reads each detail once. What earlier
 * processes read is judged by the clock: one read in the future was read before the clock was set back.
 */
function isDetailOlder({ run, resource, stamp }: AnswerContext, id: RecordId): boolean {
  const last = run.mirror.records.lastRead(resource.name, id);
  if (last === null) return true;
  if (run.firstSeq !== null) return last.receivedSeq < run.firstSeq;
  return last.readAtMs < run.chainStartedMs || last.readAtMs > stamp.receivedAtMs;
}

/**
 * Is it a parent that the plan did not know, and may the list of one more be read? Its event may have inserted it before
 * its list showed it: the read of an event queues no list.
 */
function takesParent(run: RunContext, child: Resource, { resource, id }: RecordRef, result: ApplyResult) {
  const { parents, parentReads } = run;
  const isKnown = () => result === "quarantined" || !parents.isUnplanned(child.name, resource, id);
  if (parentReads.left <= 0 || (result !== "inserted" && isKnown())) return false;
  parentReads.left -= 1;
  return true;
}
