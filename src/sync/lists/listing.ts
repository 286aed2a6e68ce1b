import { isoTime } from "../../base/clock.ts";
import { assert } from "../../base/errors.ts";
import type { RecordId } from "../../base/ids.ts";
import { snakeCase } from "../../base/names.ts";
import { counted } from "../../base/units.ts";
import type { PageFacts } from "../../extract/answers.ts";
import { parentOf, type ChildPayload, type PagePayload } from "../../extract/work-request.ts";
import type { EarlierReadings, ListedPage, Listing, ShownRecords } from "../../state/listings.ts";
import {
  changesOf,
  changesVariant,
  newestListed,
  sweepKey,
  fullPageKey,
  noteExpected,
  noteNewest,
} from "../../state/sweeps.ts";
import type { WorkItem } from "../../state/work-item.ts";
import { requireRunId, type AnswerContext } from "../context/run-context.ts";
import {
  removeRecord,
  childListComplete,
  listComplete,
  ownerKey,
  holdMassDelete,
  mayRemove,
} from "../deletion/deletion.ts";
import {
  dropPages,
  queueHeldList,
  queueNextPage,
  queueOtherPages,
  queueSweepAgain,
  queueTail,
} from "../plan/list-reads.ts";
import { queueOrphans, queueRecord } from "../plan/read-reasons.ts";
import { judgeReading, judgeWalk, mostIdlePages, nextStep, withPage, type Verdict } from "./reading.ts";

/** A list that changes while it is read is read this many times in all; after that only I5 protects its rows. */
export const mostSweeps = 3;
/** And this many times, while each reading shows records that those before it did not: a list that shuffles ties. */
const mostGrowingSweeps = 10;
/** After so many parents' lists that do not lead on, only the first page of further ones is read in the run. */
export const mostDeadEnds = 3;

/**
 * Which listing a work item's page belongs to, its number from 1, and the number of the reading. The listing of
 * a parent's list is named `clients:17`.
 */
export function pagePlace({ kind, payload }: WorkItem) {
  const place = { attempt: 1, again: false, ...(payload as PagePayload | ChildPayload) };
  if (kind !== "child") return place as typeof place & PagePayload;
  const { parent, parentId } = payload as ChildPayload;
  return { ...place, variant: `${parent}:${parentId}` };
}

/** A page of a list, and the newest time stamp on it and those before it; null: none, or there is no list of changes. */
type AnsweredPage = ListedPage & PageFacts & { readonly newest: string | null };

/** All that a reading showed, and what those before it showed with which it may count. */
interface Reading extends Pick<AnsweredPage, "newest"> {
  readonly listing: Listing;
  readonly shown: ShownRecords;
  readonly earlier: EarlierReadings | null;
  /** It ended with a full page that showed nothing new. */
  readonly isRepeated?: boolean;
}

/**
 * Adds one page to its listing, inside the apply transaction. Page 1 opens the listing and queues the other pages; of a
 * list without a total each full page (`walkedFacts`) queues the next one. The page that ends the reading closes the
 * listing, or has the list read again, and decides about records that no page showed. A page after the first counts
 * only while its reading is open.
 *
 * @param page null: it is not the one that was asked for, and shows nothing
 */
export function addListingPage(answer: AnswerContext, page: AnsweredPage | null): void {
  const { run, resource, item } = answer;
  const { page: number, variant, attempt, again } = pagePlace(item);
  if (page && number === 1 && !again) return beginReading(answer, page);
  const open = run.listings.find(resource.name, variant);
  if (open?.attempt !== attempt) return;
  if (page && resource.list.kind === "walked") addWalkedPage(answer, open, page);
  else addPage(answer, open, page ?? { ...open, page: number, ids: [], withoutId: [] });
}

function beginReading(answer: AnswerContext, page: AnsweredPage): void {
  const { run, resource, item, stamp } = answer;
  const { listings } = run;
  const { name } = resource;
  const { variant, attempt } = pagePlace(item);
  const isWalked = resource.list.kind === "walked";
  const { perPage, overstated } = page;
  // Where several parents' lists led nowhere, the pages of others are not tried.
  const pages = isWalked || (run.deadEnds.get(name) ?? 0) < mostDeadEnds ? page.pages : 1;
  const listing: Listing = {
    resource: name,
    variant,
    run: requireRunId(run),
    attempt,
    startedSeq: stamp.sentSeq,
    startedAt: isoTime(stamp.receivedAtMs),
    perPage,
    pages,
    total: isWalked ? 0 : page.total,
    overstated: overstated || pages < page.pages,
    steady: true,
    idle: 0,
    tails: 0,
  };
  const earlier = listings.earlier(listing, attempt - 1);
  if (pages === 1) return endReading(answer, { listing, shown: page, earlier, newest: page.newest });
  listings.open(listing, earlier);
  listings.putPage(listing, { ...page, total: listing.total });
  if (isWalked) followWalk(answer, listing, page);
  else queueOtherPages(answer, page);
}

function addPage(answer: AnswerContext, open: Listing, page: ListedPage & Pick<Listing, "overstated">): void {
  const { run } = answer;
  const { listings } = run;
  const { again } = pagePlace(answer.item);
  const before = again ? listings.pageShown(open, page.page) : null;
  const { leastTotal } = listings.progress(open);
  const showsNew = listings.putPage(open, page);
  const listing = withPage(open, { page, before, leastTotal, showsNew });
  const more = before && open.attempt === 1 ? page.ids.length - before.ids.length : 0;
  run.tally.of(open.resource).listed += Math.max(0, more);
  if (before && listing.steady) listings.confirmPages(listing, page.page, page.total);
  const step = nextStep(listing, listings.progress(listing));
  if (step.kind === "judge") return endReading(answer, readingOf(answer, listing, null));
  if (step.kind !== "read tail") return listings.update(listing);
  queueTail(answer, listing, step);
  listings.update({ ...listing, pages: step.pages, tails: listing.tails + 1 });
}

function addWalkedPage(answer: AnswerContext, listing: Listing, page: AnsweredPage): void {
  const { listings } = answer.run;
  const { list } = answer.resource;
  const isFull = page.pages > page.page;
  const showsNew = listings.putPage(listing, { ...page, total: 0 });
  // Page 1 had room for more, and there was none: it is the whole list, also where the service repeats it.
  const isShort = list.kind === "walked" && page.perPage < list.pageSize;
  if (isFull && showsNew) {
    listings.update({ ...listing, pages: page.pages });
    return followWalk(answer, listing, page);
  }
  // All pages so far are looked at once, at the end.
  const reading = readingOf(answer, listing, page.newest);
  if (page.page !== 2 || showsNew || !isShort) return endReading(answer, { ...reading, isRepeated: isFull });
  const shown = listings.pageShown(listing, 1) ?? page;
  endReading(answer, { ...reading, listing: { ...listing, pages: 1 }, shown });
}

function readingOf({ run: { listings } }: AnswerContext, listing: Listing, newest: string | null): Reading {
  const earlier = listings.earlier(listing, listing.attempt);
  return { listing, shown: listings.shown(listing), earlier, newest };
}

/** Queues the next page. Where several runs read the list, it waits once this one has read its part. */
function followWalk(answer: AnswerContext, listing: Listing, page: AnsweredPage): void {
  const { run, resource } = answer;
  queueNextPage(answer, page);
  const left = run.wholePages.get(resource.name);
  if (left === undefined || listing.variant !== "") return;
  run.wholePages.set(resource.name, left - 1);
  if (left <= 1) run.queue.holdWholeList(resource.name);
}

/**
 * Judges the reading of a list without a total. Of one that was read whole it notes what the next ones go by: the newest time
 * stamp, how many records fill a page, and how many there are.
 */
function judgeWalked(answer: AnswerContext, reading: Reading): Verdict {
  const { run, resource, item } = answer;
  const { listing, shown, earlier, newest, isRepeated = false } = reading;
  const { variant, startedAt, pages, perPage } = listing;
  const { name } = resource;
  const { meta } = run.mirror;
  const isFollowed = changesOf(resource) === null || newestListed(meta, name) !== null;
  const wasWhole = variant === "" && isFollowed && run.runs.sweptTimes().has(name);
  const verdict = judgeWalk(listing, shown, earlier, { wasWhole, isRepeated });
  if (verdict.kind !== "whole") return verdict;
  // What may have been missed is in the next list of changes: what changed since the reading before, as its own stamps
  // say, and where there was none, since the last list of changes.
  const { newestBefore = null } = item.payload as PagePayload;
  const proven = pages === 1 ? newest : earlier && newestBefore;
  if (variant === "") meta.note(fullPageKey(name), perPage);
  if (proven !== null) noteNewest(meta, name, proven < startedAt ? proven : startedAt);
  // An event or the list of changes may have changed how many there are since the whole list was read.
  noteExpected(meta, name, variant === changesVariant ? run.mirror.records.counts(name).live : verdict.total);
  return verdict;
}

/**
 * A reading is over. A list that was not shown whole is read again, `mostSweeps` times in all, more where that helps.
 * Records that were not shown are checked either way, since absence alone deletes nothing; not if the list was not read
 * to its end.
 */
function endReading(answer: AnswerContext, reading: Reading): void {
  const { run, resource, item } = answer;
  const { listings } = run;
  const { listing, shown, earlier } = reading;
  const { variant } = listing;
  const { name } = resource;
  const isWalked = resource.list.kind === "walked";
  const verdict = isWalked ? judgeWalked(answer, reading) : judgeReading(listing, shown, earlier);
  const { kind, seen, startedSeq, startedAt } = verdict;
  if (listing.idle >= mostIdlePages) dropPages(answer);
  if (kind === "again" && listing.attempt < (verdict.grew ? mostGrowingSweeps : mostSweeps)) {
    listings.open(listing, verdict.earlier);
    return queueSweepAgain(answer, listing);
  }
  listings.close(name, variant);
  const isWhole = kind === "whole";
  if (!isWhole) noteUnsettled(answer, listing, verdict);
  const read = { ...listing, startedSeq, startedAt };
  if (isWhole && item.kind !== "child")
    run.runs.noteSwept(requireRunId(run), sweepKey(name, variant), startedAt);
  if (variant === changesVariant) return;
  if (item.kind === "child") childListComplete(run, resource, shown.ids);
  else {
    listComplete(run, resource, shown.ids);
    if (earlier && !isWalked) {
      // These count although the last reading did not show them.
      const last = new Set(shown.ids);
      const joined = { resource: name, variant, earlier: new Set([...seen].filter((id) => !last.has(id))) };
      run.joinedLists.set(sweepKey(name, variant), joined);
    }
    if (isWhole) completeSweep(answer, read, seen, shown);
  }
  const absent = kind === "dead end" ? [] : absentIds(answer, read, seen);
  const isHeld = absent.length > 0 && !handleAbsent(answer, absent, isWhole, shown);
  if (isHeld) queueHeldList(answer);
  // A list whose deletions are held counts as not read: another run decides.
  if (item.kind !== "child" || isHeld) return;
  const parent = parentOf(item.payload as ChildPayload);
  // Of earlier readings that count only ids are known.
  if (isWhole && !earlier)
    run.mirror.quarantine.releaseWithoutId(name, new Set(shown.withoutId), ownerKey(parent));
  run.parents.markListed(name, parent, answer.stamp.receivedAtMs, requireRunId(run));
}

function noteUnsettled({ run, resource, item }: AnswerContext, listing: Listing, verdict: Verdict): void {
  const { kind, why, earlier, seen, total } = verdict;
  const { attempt, variant } = listing;
  const { name } = resource;
  const which = item.kind === "child" ? `the list of ${variant.replace(":", " ")}` : "the list";
  if (kind === "dead end") run.deadEnds.set(name, (run.deadEnds.get(name) ?? 0) + 1);
  const moved = earlier
    ? `showed ${seen.size} of ${total} records in ${attempt} readings`
    : `changed during each of ${attempt} readings (${total} records)`;
  const message = kind === "dead end" ? `${which} does not lead on: ${why}` : `${which} ${moved}`;
  const hint = "What it showed is mirrored; a later run reads it again.";
  run.tally.trouble({ resource: name, kind: "unsettled", message, hint });
}

function completeSweep(
  answer: AnswerContext,
  { variant, startedAt }: Listing,
  seen: ReadonlySet<RecordId>,
  { withoutId }: ShownRecords,
): void {
  const { run, resource } = answer;
  const { name } = resource;
  run.tally.swept.add(name);
  // Earlier runs may have met some of them.
  run.withoutId.set(name, new Set([...(run.withoutId.get(name) ?? []), ...withoutId]));
  queueOrphans(answer);
  if (variant !== "") return;
  // A quarantined record without a row cannot be checked: it is deleted when the complete list does not show it.
  const { quarantine, records } = run.mirror;
  for (const id of quarantine.idsBefore(name, startedAt, isoTime(run.clock.nowMs()))) {
    if (!seen.has(id) && !records.isLive(name, id)) quarantine.release(name, id);
  }
}

/** Live rows received before the listing began that it had to show and did not. */
function absentIds(answer: AnswerContext, listing: Listing, seen: ReadonlySet<RecordId>): RecordId[] {
  const { records } = answer.run.mirror;
  const { name } = answer.resource;
  const unseen = (ids: readonly RecordId[]) => ids.filter((id) => !seen.has(id));
  const unseenBefore = () => unseen(records.liveIds(name, listing.startedSeq));
  const scope = scopeOf(answer, listing);
  if (!scope) return unseenBefore();
  const missing = new Set(unseen(records.liveIdsWhere(name, scope)));
  return missing.size === 0 ? [] : unseenBefore().filter((id) => missing.has(id));
}

/** The value, by column, that the records of this listing share; null where it lists the whole resource. */
function scopeOf({ resource: { list }, item }: AnswerContext, { variant }: Listing) {
  if (list.kind === "whole" && list.variants) return { [snakeCase(list.variants.field)]: variant };
  if (list.kind !== "parents") return null;
  const parent = parentOf(item.payload as ChildPayload);
  const link = list.parents.find(({ resource }) => resource === parent.resource);
  assert(link, `${parent.resource} is a parent of it`);
  return { [snakeCase(link.field)]: parent.id };
}

/**
 * Absence is a reason to ask, not to delete (I5). A record without a route of its own cannot be asked for: it
 * is removed when the list is whole and shows at least one other, and each with its id.
 *
 * @returns false when they are held
 */
function handleAbsent(
  answer: AnswerContext,
  absent: readonly RecordId[],
  isWhole: boolean,
  shown: ShownRecords,
): boolean {
  const { run, resource } = answer;
  const { name } = resource;
  if (!mayRemove(run, name, absent.length)) {
    holdMassDelete(run, name, absent.length);
    return false;
  }
  if (resource.detail !== undefined) {
    for (const id of absent) queueRecord(answer, "absent", { resource: name, id });
    return true;
  }
  const isEmpty = shown.ids.length === 0;
  if (isEmpty || shown.withoutId.length > 0) {
    const why = isEmpty
      ? "the list came back empty"
      : "the list shows records without an id, which may be they";
    const message = `Kept ${counted(absent.length, "record")}: ${why}.`;
    const hint = "They have no route of their own to check. The next list that shows some of them decides.";
    run.tally.trouble({ resource: name, kind: "held", message, hint });
    return false;
  }
  if (isWhole) for (const id of absent) removeRecord(answer, resource, id);
  return true;
}
