import { isoTime } from "../../base/clock.ts";
import { assert } from "../../base/errors.ts";
import type { RecordId } from "../../base/ids.ts";
import { snakeCase } from "../../base/names.ts";
import { counted } from "../../base/units.ts";
import type { PageFacts } from "../../extract/answers.ts";
import { parentIdOf, type ChildPayload, type PagePayload } from "../../extract/work-request.ts";
import type { EarlierReadings, ListedPage, Listing, ShownRecords } from "../../state/listings.ts";
import { changesOf, changesVariant, newestListed, sweepKey } from "../../state/sweeps.ts";
import { noteExpected, noteFullPage, noteNewest } from "../../state/sweeps.ts";
import type { WorkItem } from "../../state/work-item.ts";
import { mostDeadEnds, mostGrowingSweeps, mostIdlePages, mostSweeps } from "../context/limits.ts";
import { requireRunId, type AnswerContext } from "../context/run-context.ts";
import { removeRecord, childListComplete, listComplete } from "../deletion/deletion.ts";
import { holdMassDelete, mayRemove } from "../deletion/mass-delete-guard.ts";
import { dropPages, holdWholeList } from "../plan/list-reads.ts";
import { queueNextPage, queueOtherPages, queueSweepAgain, queueTail } from "../plan/list-reads.ts";
import { queueOrphans, queueRecord } from "../plan/read-reasons.ts";
import { judgeReading, judgeWalk, nextStep, withPage, type Verdict } from "./reading.ts";

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

/**
 * Adds one page to its listing, inside the apply transaction. Page 1 opens the listing and queues the other pages; of a
 * list without a total each full page (`walkedFacts`) queues the next one. The page that ends the reading closes the
 * listing, or has the list read again, and decides about records that no page showed.
 *
 * @param newest the newest time stamp on the page; null: none, or the list has no list of changes
 */
export function addListingPage(answer: AnswerContext, page: ListedPage & PageFacts, newest: string | null) {
  const { page: number, again } = pagePlace(answer.item);
  if (number === 1 && !again) return beginReading(answer, page, newest);
  const open = openReading(answer);
  if (open && answer.resource.list.kind === "walked") addWalkedPage(answer, open, page, newest);
  else if (open) addPage(answer, open, page);
}

/** Adds a page that shows nothing because it was not the one that was asked for. */
export function addUselessPage(answer: AnswerContext): void {
  const open = openReading(answer);
  if (!open) return;
  const { page } = pagePlace(answer.item);
  const { perPage, total, overstated } = open;
  addPage(answer, open, { page, perPage, total, overstated, ids: [], withoutId: [] });
}

/** The listing that a page after the first belongs to; null where its reading was given up. */
function openReading({ run, resource, item }: AnswerContext): Listing | null {
  const { variant, attempt } = pagePlace(item);
  const open = run.listings.find(resource.name, variant);
  return open?.attempt === attempt ? open : null;
}

function beginReading(answer: AnswerContext, page: ListedPage & PageFacts, newest: string | null): void {
  const { run, resource, item, stamp } = answer;
  const { listings } = run;
  const { name } = resource;
  const { variant, attempt } = pagePlace(item);
  const isWalked = resource.list.kind === "walked";
  const { perPage, overstated } = page;
  const total = isWalked ? 0 : page.total;
  // Where several parents' lists led nowhere, the pages of others are not tried.
  const pages = isWalked || (run.deadEnds.get(name) ?? 0) < mostDeadEnds ? page.pages : 1;
  const listing = {
    resource: name,
    variant,
    run: requireRunId(run),
    attempt,
    startedSeq: stamp.sentSeq,
    startedAt: isoTime(stamp.receivedAtMs),
    perPage,
    pages,
    total,
    overstated: overstated || pages < page.pages,
    steady: true,
    idle: 0,
    tails: 0,
  };
  const continues = attempt > 1 && listings.find(name, variant)?.attempt === attempt - 1;
  const earlier = continues ? listings.earlier(listing) : null;
  if (pages === 1) {
    if (isWalked) return endWalk(answer, listing, page, earlier, newest);
    return endReading(answer, listing, page, judgeReading(listing, page, earlier), earlier);
  }
  listings.open(listing, earlier);
  listings.showsNew(listing, page);
  listings.putPage(listing, { ...page, total });
  if (isWalked) followWalk(answer, listing, page, newest);
  else queueOtherPages(answer, page);
}

function addPage(answer: AnswerContext, open: Listing, page: ListedPage & Pick<Listing, "overstated">): void {
  const { run } = answer;
  const { listings } = run;
  const { again } = pagePlace(answer.item);
  const before = again ? listings.pageShown(open, page.page) : null;
  const { leastTotal } = listings.progress(open);
  const showsNew = listings.showsNew(open, page);
  const listing = withPage(open, { page, before, leastTotal, showsNew });
  listings.putPage(listing, page);
  const more = before && open.attempt === 1 ? page.ids.length - before.ids.length : 0;
  run.tally.of(open.resource).listed += Math.max(0, more);
  if (before && listing.steady) listings.confirmPages(listing, page.page, page.total);
  const step = nextStep(listing, listings.progress(listing));
  if (step.kind === "wait") return listings.update(listing);
  if (step.kind === "read tail") {
    queueTail(answer, listing, step);
    return listings.update({ ...listing, pages: step.pages, tails: listing.tails + 1 });
  }
  const [shown, earlier] = [listings.shown(listing), listings.earlier(listing)];
  endReading(answer, listing, shown, judgeReading(listing, shown, earlier), earlier);
}

function addWalkedPage(
  answer: AnswerContext,
  listing: Listing,
  page: ListedPage & PageFacts,
  newest: string | null,
): void {
  const { listings } = answer.run;
  const isFull = page.pages > page.page;
  const showsNew = listings.showsNew(listing, page);
  const earlier = listings.earlier(listing);
  // Page 1 had room for more, and there was none: it is the whole list, also where the service repeats it.
  const { list } = answer.resource;
  const isShort = list.kind === "walked" && page.perPage < list.pageSize;
  if (page.page === 2 && !showsNew && isShort)
    return endWalk(answer, { ...listing, pages: 1 }, listings.shown(listing), earlier, newest);
  listings.putPage(listing, { ...page, total: 0 });
  if (!isFull || !showsNew) return endWalk(answer, listing, listings.shown(listing), earlier, newest, isFull);
  listings.update({ ...listing, pages: page.pages });
  followWalk(answer, listing, page, newest);
}

/** Queues the next page. Where several runs read the list, it waits once this one has read its part. */
function followWalk(answer: AnswerContext, listing: Listing, page: PageFacts, newest: string | null): void {
  const { run, resource } = answer;
  queueNextPage(answer, newestSoFar(answer, newest), page);
  const left = run.wholePages.get(resource.name);
  if (left === undefined || listing.variant !== "") return;
  run.wholePages.set(resource.name, left - 1);
  if (left <= 1) holdWholeList(run, resource.name);
}

/** The newest time stamp on this page and those before it. */
function newestSoFar({ item }: AnswerContext, newest: string | null): string | null {
  const before = (item.payload as PagePayload).newest ?? null;
  return before !== null && (newest === null || before > newest) ? before : newest;
}

/** A reading is over: `judgeWalk` says whether it showed the whole list. `isRepeated`: it ended with a page of nothing new. */
function endWalk(
  answer: AnswerContext,
  listing: Listing,
  shown: ShownRecords,
  earlier: EarlierReadings | null,
  newest: string | null,
  isRepeated = false,
): void {
  const { run, resource, item } = answer;
  const { variant, startedAt } = listing;
  const { name } = resource;
  const { meta } = run.mirror;
  const { newestBefore = null } = item.payload as PagePayload;
  const isFollowed = changesOf(resource) === null || newestListed(meta, name) !== null;
  const wasWhole = variant === "" && isFollowed && run.runs.lastSwept(name) !== null;
  const verdict = judgeWalk(listing, shown, { earlier, wasWhole, isRepeated });
  const total = verdict.seen.size + shown.withoutId.length;
  if (verdict.kind === "whole") {
    // What may have been missed is in the next list of changes: what changed since the reading before, as its own stamps
    // say, and where there was none, since the last list of changes.
    const proven = listing.pages === 1 ? newestSoFar(answer, newest) : earlier && newestBefore;
    if (variant === "") noteFullPage(meta, name, listing.perPage);
    if (proven !== null) noteNewest(meta, name, proven < startedAt ? proven : startedAt);
    // An event or the list of changes may have changed how many there are since the whole list was read.
    noteExpected(meta, name, variant === changesVariant ? run.mirror.records.counts(name).live : total);
  }
  endReading(answer, { ...listing, total }, shown, verdict);
}

/**
 * A reading is over. A list that was not shown whole is read again, `mostSweeps` times in all, more where that helps.
 * Records that were not shown are checked either way, since absence alone deletes nothing; not if the list was not read
 * to its end.
 */
function endReading(
  answer: AnswerContext,
  listing: Listing,
  shown: ShownRecords,
  verdict: Verdict,
  before: EarlierReadings | null = null,
): void {
  const { run, resource, item } = answer;
  const { listings } = run;
  const { kind, seen, startedSeq, startedAt } = verdict;
  if (listing.idle >= mostIdlePages) dropPages(answer);
  if (kind === "again" && listing.attempt < (verdict.grew ? mostGrowingSweeps : mostSweeps)) {
    listings.open(listing, verdict.earlier);
    return queueSweepAgain(answer, listing);
  }
  listings.close(listing.resource, listing.variant);
  const isWhole = kind === "whole";
  if (!isWhole) noteUnsettled(answer, listing, verdict);
  const read = { ...listing, startedSeq, startedAt };
  if (isWhole && item.kind !== "child")
    run.runs.noteSwept(requireRunId(run), sweepKey(listing.resource, listing.variant), startedAt);
  if (listing.variant === changesVariant) return;
  if (item.kind === "child") {
    const payload = item.payload as ChildPayload;
    const at = answer.stamp.receivedAtMs;
    const parent = { resource: payload.parent, id: parentIdOf(payload) };
    run.parents.markListed(resource.name, parent, at, requireRunId(run));
    childListComplete(run, resource, shown.ids);
  } else {
    listComplete(run, resource, shown.ids);
    if (before) {
      // These count although the last reading did not show them.
      const last = new Set(shown.ids);
      const earlier = new Set([...seen].filter((id) => !last.has(id)));
      const { variant } = listing;
      const { name } = resource;
      run.joinedLists.set(sweepKey(name, variant), { resource: name, variant, earlier });
    }
    if (isWhole) completeSweep(answer, read, seen);
  }
  if (kind === "dead end") return;
  const absent = absentIds(answer, read, seen);
  if (absent.length > 0) handleAbsent(answer, absent, isWhole, shown);
}

function noteUnsettled({ run, resource, item }: AnswerContext, listing: Listing, verdict: Verdict): void {
  const { kind, why, earlier, seen } = verdict;
  const { attempt, total, variant } = listing;
  const { name } = resource;
  const which = item.kind === "child" ? `the list of ${variant.replace(":", " ")}` : "the list";
  if (kind === "dead end") run.deadEnds.set(name, (run.deadEnds.get(name) ?? 0) + 1);
  const moved = earlier
    ? `showed ${seen.size} of ${total} records in ${attempt} readings`
    : `changed during each of ${attempt} readings (${total} records)`;
  const message = kind === "dead end" ? `${which} does not lead on: ${why}` : `${which} ${moved}`;
  const hint = "What it showed is mirrored; the next run reads it again.";
  run.tally.trouble({ resource: name, kind: "unsettled", message, hint });
}

function completeSweep(answer: AnswerContext, listing: Listing, seen: ReadonlySet<RecordId>): void {
  const { run, resource } = answer;
  const { name } = resource;
  const { variant, startedAt } = listing;
  run.tally.swept.add(name);
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
  const payload = item.payload as ChildPayload;
  const link = list.parents.find(({ resource }) => resource === payload.parent);
  assert(link, `${payload.parent} is a parent of it`);
  return { [snakeCase(link.field)]: parentIdOf(payload) };
}

/**
 * Absence is a reason to ask, not to delete (I5). A record without a route of its own cannot be asked for: it
 * is removed when the list is whole and shows at least one other, and each with its id.
 */
function handleAbsent(
  answer: AnswerContext,
  absent: readonly RecordId[],
  isWhole: boolean,
  shown: ShownRecords,
): void {
  const { run, resource } = answer;
  const { name } = resource;
  const count = absent.length;
  if (!mayRemove(run, name, count)) return holdMassDelete(run, name, count);
  if (resource.detail !== undefined) {
    for (const id of absent) queueRecord(answer, "absent", { resource: name, id });
    return;
  }
  const isEmpty = shown.ids.length === 0;
  if (isEmpty || shown.withoutId.length > 0) {
    const why = isEmpty
      ? "the list came back empty"
      : "the list shows records without an id, which may be they";
    const message = `Kept ${counted(count, "record")}: ${why}.`;
    const hint = "They have no route of their own to check. The next list that shows some of them decides.";
    run.tally.trouble({ resource: name, kind: "held", message, hint });
  } else if (isWhole) for (const id of absent) removeRecord(answer, resource, id);
}
