import { assert } from "../../base/errors.ts";
import type { RecordRef } from "../../base/ids.ts";
import type { Resource, ListPlan } from "../../connector/resource.ts";
import type { PageFacts } from "../../extract/answers.ts";
import { parentOf, type ChildPayload, type PagePayload, type ListForm } from "../../extract/work-request.ts";
import type { Listing } from "../../state/listings.ts";
import { changesOf, changesVariant, fullPageKey, newestListed, sweepKey } from "../../state/sweeps.ts";
import type { ListRef } from "../../state/sweeps.ts";
import { childTarget, newestFirst, pageTarget, type NewWorkItem } from "../../state/work-item.ts";
import type { AnswerContext, RunContext } from "../context/run-context.ts";
import type { InvalidError } from "../../connector/service-errors.ts";

type PageOrFirst = Omit<PagePayload, "page"> & Partial<Pick<PagePayload, "page">>;
type PageCount = Pick<PageFacts, "pages" | "perPage">;

/** The rank of a list that takes turns with details; others come before them. */
const inTurnRank = 1;

/**
 * A list from its first page.
 * Guard: a run begins each list once, and again `listAgeMs` after it began.
 *
 * @param inTurn whether details are read in between
 */
export function queueSweep(run: RunContext, { resource, variant }: ListRef, inTurn: boolean): void {
  const since = variant === changesVariant ? changesSince(run, resource) : {};
  const work = listPage(resource, { variant, ...since }, run.mirror.sequence.next());
  run.queue.add({ ...work, rank: inTurn ? inTurnRank : 0 });
}

/** Where the next list of changes begins, and what fills a page of it. */
function changesSince({ mirror, selected }: RunContext, name: string) {
  const resource = selected.get(name);
  const newest = newestListed(mirror.meta, name);
  const changes = resource && changesOf(resource);
  assert(changes && newest !== null, `${name} was read whole before its changes`);
  const since = new Date(Date.parse(newest) - changes.overlapMs).toISOString();
  return { since, perPage: Number(mirror.meta.get(fullPageKey(name)) ?? 1) };
}

/**
 * A list that showed records which are gone now, before all else: it says which others are there.
 * Guard: `deletion/deletion.ts` asks for it once per run and resource.
 */
export function queueStaleList(run: RunContext, list: ListRef, nowMs: number): void {
  run.begunLists.set(sweepKey(list.resource, list.variant), { ...list, begunMs: nowMs });
  queueSweep(run, list, false);
}

/** A page of a list, the first one unless another is asked for. Pure. */
export function listPage(resource: string, asked: PageOrFirst, dirtySeq: number): NewWorkItem {
  const payload = { page: 1, ...asked };
  const { variant, page, quick } = payload;
  const name = quick ? `quick ${variant} ${Object.entries(quick.params).join(" ")}` : variant;
  const target = pageTarget(name, page);
  return { kind: "list", resource, target, lane: "list", reason: "sweep", payload, dirtySeq };
}

export function childList({ mirror }: RunContext, resource: string, parent: RecordRef): NewWorkItem {
  const payload = { parent: parent.resource, parentId: String(parent.id), page: 1 };
  return pageWork(resource, payload, mirror.sequence.next());
}

function pageWork(resource: string, payload: PagePayload | ChildPayload, dirtySeq: number): NewWorkItem {
  if (!("parent" in payload)) return listPage(resource, payload, dirtySeq);
  const { id: parentId } = parentOf(payload);
  const target = childTarget(payload.parent, parentId, payload.page);
  const rank = newestFirst(parentId);
  return { kind: "child", resource, target, lane: "hydration", rank, reason: "parent", payload, dirtySeq };
}

/** Pages of a list or of a parent's list, in the order given, of the same reading and form as the page answered now. */
function queuePages(answer: AnswerContext, pages: readonly number[], more: object): void {
  const { run, resource, item, stamp } = answer;
  const { again: _again, ...payload } = item.payload as PagePayload | ChildPayload;
  const { form } = run.listForms.get(resource.name) ?? {};
  for (const page of pages)
    addPageLike(answer, pageWork(resource.name, { ...form, ...payload, ...more, page }, stamp.sentSeq));
}

/**
 * Pages 2 to `pages` of a list or of a parent's list. The last page is read first: a deletion then cannot move
 * an unread row into a page already read. They are of the size that page 1 had.
 * Guard: only the answer to page 1 queues pages, and `pageFacts` refuses an absurd number of them.
 */
export function queueOtherPages(answer: AnswerContext, { pages, perPage }: PageCount): void {
  const { list } = answer.resource;
  const isSmaller = "perPage" in list && perPage < list.perPage;
  queuePages(answer, downFrom(pages, 2), isSmaller ? { perPage } : {});
}

/**
 * The page after a full one of a list without a total.
 * Guard: a page that shows nothing new queues none (`lists/listing.ts`).
 */
export function queueNextPage(
  answer: AnswerContext,
  { pages, perPage, newest }: PageCount & { readonly newest: string | null },
): void {
  queuePages(answer, [pages], { newest, perPage });
}

/**
 * A list of which deletions are held: nothing else knows of them.
 * Guard: it waits for the next run.
 */
export function queueHeldList({ run, resource, item }: AnswerContext): void {
  const { variant, parent, parentId } = item.payload as PagePayload & ChildPayload;
  const list = item.kind === "child" ? { parent, parentId } : { variant };
  const work = pageWork(resource.name, { ...list, page: 1 }, run.mirror.sequence.next());
  run.queue.add(work);
  run.queue.holdTargets(resource.name, work.target, "deletions are held");
}

/**
 * The end of a list that grew while it was read: new pages, and the last page of before once more.
 * Guard: `mostTails` per reading.
 */
export function queueTail(
  answer: AnswerContext,
  { pages }: Listing,
  tail: { anchor: number; pages: number },
): void {
  queuePages(answer, downFrom(tail.pages, pages + 1), {});
  queuePages(answer, [tail.anchor], { again: true });
}

function downFrom(last: number, first: number): number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => last - i);
}

export function dropPages({ run, resource, item }: AnswerContext): void {
  run.queue.drop(resource.name, item.target.slice(0, item.target.lastIndexOf(":") + 1));
}

/** What follows from a page is read when the page itself was. */
function addPageLike({ run, item }: AnswerContext, work: NewWorkItem): void {
  const { lane, rank = 0, reason } = item;
  run.queue.add({ ...work, lane, rank, reason });
}

/**
 * A list that changed while it was read, once more.
 * Guard: the caller counts the attempts, `mostSweeps` at most.
 */
export function queueSweepAgain(answer: AnswerContext, { attempt }: Listing): void {
  const { run, resource, item, stamp } = answer;
  const { again: _again, newest, ...payload } = item.payload as PagePayload & Partial<ChildPayload>;
  const next = { attempt: attempt + 1, ...(newest !== undefined && { newestBefore: newest }) };
  if (resource.list.kind === "walked")
    run.log.debug(`${resource.name}: reading the list again, for what moved meanwhile`, next);
  else run.log.info(`${resource.name}: the list changed while it was read. Reading it again.`, next);
  const work = pageWork(resource.name, { ...payload, ...next, page: 1 }, stamp.receivedSeq);
  addPageLike(answer, work);
}

/**
 * A list from its first page, asked for in another form; its other pages are dropped.
 * Guard: each form asks for less than the one before it (`otherListForm`).
 */
export function queueOtherForm(answer: AnswerContext): void {
  const { run, resource, item } = answer;
  const { perPage: _size, unsorted: _order, ...payload } = item.payload as PagePayload | ChildPayload;
  dropPages(answer);
  const work = pageWork(resource.name, { ...payload, page: 1 }, run.mirror.sequence.next());
  addPageLike(answer, work);
}

/**
 * The list of one parent record.
 * Guard: parents are queued at the start of a run and when their own list shows them the first time, within
 * `parentReads`; `deletion/deletion.ts` asks once more per run and parent. The records of a parent's list are
 * parents of nothing.
 */
export function queueChildList(run: RunContext, child: Resource, parent: RecordRef): void {
  run.queue.add(childList(run, child.name, parent));
}

/** Mirrored resources that are listed per record of `parent`, with the field that names it. */
export function childrenOf({ mirrored }: RunContext, parent: string) {
  return [...mirrored.values()].flatMap((resource) => {
    const links = resource.list.kind === "parents" ? resource.list.parents : [];
    const link = links.find((candidate) => candidate.resource === parent);
    return link ? [{ resource, link }] : [];
  });
}

/**
 * How to ask for a list after a 422: with the size that the message allows, else half of it; without the order if
 * that is refused. Where nothing is named: without the order, and then smaller. Pure. Each form asks for less than the
 * one before it, so this ends.
 *
 * @returns null when the refusal has another reason
 */
export function otherListForm(list: ListPlan, form: ListForm, error: InvalidError): ListForm | null {
  if (!("perPage" in list)) return null;
  const hasOrder = list.kind === "paged" && Object.keys(list.params).length > 0 && !form.unsorted;
  const isOrder = ["sortBy", "sortDirection"].some((param) => error.names(param));
  const isSize = error.refusesPageSize();
  if (hasOrder && !isSize && (isOrder || error.namesNothing())) return { ...form, unsorted: true };
  if (!isSize && !error.namesNothing()) return null;
  const perPage = smallerSize(form.perPage ?? list.perPage, error);
  return perPage === null ? null : { ...form, perPage };
}

/** No smaller pages are tried when the service refuses the size of a page without naming one it accepts. */
const smallestPage = 10;

/** The largest number below the current size that the messages name, in whatever language, else half of it. */
function smallerSize(current: number, { serviceMessage, fields }: InvalidError): number | null {
  const texts = [serviceMessage ?? "", ...Object.values(fields).flat()];
  const sizes = texts.flatMap((text) => text.match(/\d+/g) ?? []).map(Number);
  const allowed = Math.max(...sizes.filter((size) => size > 1 && size < current), 0);
  if (allowed > 0) return allowed;
  return current > smallestPage ? Math.max(smallestPage, Math.floor(current / 2)) : null;
}
