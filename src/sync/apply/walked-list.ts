import { isoTime } from "../../base/clock.ts";
import { isShortPage, type PageFacts } from "../../extract/page-facts.ts";
import type { PagePayload } from "../../extract/work-request.ts";
import type { EarlierReadings, Listing, Shown } from "../../state/listings.ts";
import {
  changesOf,
  changesVariant,
  newestListed,
  noteExpected,
  noteFullPage,
  noteNewest,
} from "../../state/sweeps.ts";
import { requireRunId, type AnswerContext } from "../context/run-context.ts";
import { holdWholeList, queueNextPage } from "../plan/list-reads.ts";
import { endReading, pagePlace } from "./listing.ts";
import type { Verdict } from "./reading.ts";

/**
 * Adds one page of a list without a total, inside the apply transaction. A full page (`walkedFacts`) queues the next one;
 * the page that is not full ends the reading, and `judgeWalk` says whether it showed the whole list.
 *
 * @param newest the newest time stamp on the page; null: none, or the list has no list of changes
 */
export function addWalkedPage(answer: AnswerContext, page: Shown & PageFacts, newest: string | null): void {
  const { run, item } = answer;
  const { listings } = run;
  const payload = item.payload as PagePayload;
  const isFull = page.pages > page.page;
  const stamps = [payload.newest ?? null, newest].filter((one) => one !== null);
  const place = { ...payload, newest: stamps.toSorted().at(-1) ?? null };
  const listing = openWalk(answer, page, isFull);
  if (listing === null) return;
  if (page.page === 1 && !isFull) return endWalk(answer, listing, page, place);
  const showsNew = listings.showsNew(listing, page);
  // Page 1 had room for more, and there was none: it is the whole list, also where the service repeats it.
  if (page.page === 2 && !showsNew && isShortPage(answer.resource, page))
    return endWalk(answer, { ...listing, pages: 1 }, listings.shown(listing), place);
  listings.putPage(listing, { ...page, total: 0 });
  if (isFull && showsNew) {
    listings.update({ ...listing, pages: page.pages });
    queueNextPage(answer, place, page);
    return countPage(answer, listing);
  }
  endWalk(answer, listing, listings.shown(listing), place, isFull);
}

/** Where several runs read the list, its next page waits once this one has read its part. */
function countPage({ run, resource: { name } }: AnswerContext, { variant }: Listing): void {
  const left = run.wholePages.get(name);
  if (left === undefined || variant !== "") return;
  run.wholePages.set(name, left - 1);
  if (left <= 1) holdWholeList(run, name);
}

/** The listing that a page belongs to; page 1 opens it. Null: its reading was given up. */
function openWalk(answer: AnswerContext, page: PageFacts, isFull: boolean): Listing | null {
  const { run, resource, item, stamp } = answer;
  const { listings } = run;
  const { variant, attempt } = pagePlace(item);
  const open = listings.find(resource.name, variant);
  if (page.page > 1) return open?.attempt === attempt ? open : null;
  const start = { run: requireRunId(run), startedSeq: stamp.sentSeq, startedAt: isoTime(stamp.receivedAtMs) };
  const shape = { perPage: page.perPage, pages: page.pages, total: 0, overstated: false };
  const listing = { resource: resource.name, variant, attempt, ...start, ...shape, ...untouched };
  const earlier = attempt > 1 && open?.attempt === attempt - 1 ? listings.earlier(open) : null;
  if (isFull || earlier) listings.open(listing, earlier);
  return listing;
}

const untouched = { steady: true, idle: 0, tails: 0 };

function endWalk(
  answer: AnswerContext,
  listing: Listing,
  shown: Shown,
  { newest = null, newestBefore = null }: Pick<PagePayload, "newest" | "newestBefore">,
  isRepeated = false,
): void {
  const { run, resource } = answer;
  const { variant, startedAt } = listing;
  const { name } = resource;
  const { meta } = run.mirror;
  const earlier = run.listings.earlier(listing);
  const isFollowed = changesOf(resource) === null || newestListed(meta, name) !== null;
  const wasWhole = variant === "" && isFollowed && run.runs.lastSwept(name) !== null;
  const verdict = judgeWalk(listing, shown, { earlier, wasWhole, isRepeated });
  const total = verdict.seen.size + shown.withoutId.length;
  if (verdict.kind === "whole") {
    // What may have been missed is in the next list of changes: what changed since the reading before, as its own stamps
    // say, and where there was none, since the last list of changes.
    const proven = listing.pages === 1 ? newest : earlier && newestBefore;
    if (variant === "") noteFullPage(meta, name, listing.perPage);
    if (proven !== null) noteNewest(meta, name, proven < startedAt ? proven : startedAt);
    // An event or the list of changes may have changed how many there are since the whole list was read.
    noteExpected(meta, name, variant === changesVariant ? run.mirror.records.counts(name).live : total);
  }
  endReading(answer, { listing: { ...listing, total }, shown, before: null, verdict });
}

/** What is known of a list besides what one reading of it showed. */
interface WalkFacts {
  /** What the reading before it showed; null: it is the first. */
  readonly earlier: EarlierReadings | null;
  /** An earlier run read the list whole. */
  readonly wasWhole: boolean;
  /** The reading ended with a full page that showed nothing new. */
  readonly isRepeated: boolean;
}

/**
 * Was every record of a list without a total shown? Pure.
 *
 * A deletion during the reading moves a record from an unread page to one that was read already. One page is one moment: it
 * shows everything. Where the mirror has read the list whole before, what it holds and was not shown is asked for one by
 * one, and what is new is in the list of changes: one reading is enough. Otherwise a second reading must show nothing that
 * the first did not.
 */
export function judgeWalk(
  { pages, startedSeq, startedAt }: Pick<Listing, "pages" | "startedSeq" | "startedAt">,
  { ids, withoutId }: Shown,
  { earlier, wasWhole, isRepeated }: WalkFacts,
): Verdict {
  const seen = new Set(ids);
  const read = { seen, startedSeq, startedAt, earlier: null };
  if (isRepeated) return { ...read, kind: "dead end", why: `page ${pages} showed nothing new` };
  const known = new Set(earlier?.ids);
  if (pages === 1 || wasWhole || (earlier && ids.every((id) => known.has(id))))
    return { ...read, kind: "whole" };
  const all = {
    startedSeq,
    startedAt,
    total: 0,
    ids: [...new Set([...known, ...seen])],
    withoutId: withoutId.length,
  };
  return { ...read, kind: "again", earlier: all };
}
