import type { RecordId } from "../../base/ids.ts";
import type { EarlierReadings, ListedPage, Listing, Listings, ShownRecords } from "../../state/listings.ts";

/** So many pages running without a new record mean that a paginator does not lead on. */
export const mostIdlePages = 3;
/** The end of a list that grows while it is read is read again this many times per reading. */
const mostTails = 5;

interface PageEffect {
  readonly page: ListedPage & Pick<Listing, "overstated">;
  /** What the same page showed before, where the tail is read again. */
  readonly before: ShownRecords | null;
  /** The smallest total that a page of this reading named. */
  readonly leastTotal: number;
  readonly showsNew: boolean;
}

/**
 * The reading after one more page. Pure.
 *
 * A total that grows may be an append: the highest page of before is read again, and what it showed before must
 * still come first on it. Then no record before it moved either. Any other change needs another reading.
 */
export function withPage(listing: Listing, { page, before, leastTotal, showsNew }: PageEffect): Listing {
  const isAsBefore = before ? page.total >= listing.total && startsWith(page, before) : true;
  return {
    ...listing,
    total: Math.max(listing.total, page.total),
    steady: listing.steady && isAsBefore && page.total >= leastTotal && page.perPage === listing.perPage,
    idle: showsNew || before ? 0 : listing.idle + 1,
    overstated: listing.overstated || page.overstated,
  };
}

function startsWith({ ids, withoutId }: ShownRecords, before: ShownRecords): boolean {
  const isThere = before.ids.every((id, at) => ids[at] === id);
  return isThere && before.withoutId.every((key, at) => withoutId[at] === key);
}

/** What to do next with a reading, after one more page. Pure. */
export function nextStep(
  listing: Listing,
  { read, lastOlder }: ReturnType<Listings["progress"]>,
):
  | { readonly kind: "wait" | "judge" }
  /** Records were appended: the last page of before is read again, and those after it. */
  | { readonly kind: "read tail"; readonly anchor: number; readonly pages: number } {
  const { idle, pages, steady, tails, total, perPage } = listing;
  if (idle >= mostIdlePages) return { kind: "judge" };
  if (read < pages) return { kind: "wait" };
  if (lastOlder === null || !steady || tails >= mostTails) return { kind: "judge" };
  return { kind: "read tail", anchor: lastOlder, pages: Math.max(pages, Math.ceil(total / perPage)) };
}

export interface Verdict extends Pick<EarlierReadings, "startedSeq" | "startedAt" | "total"> {
  /**
   * `whole`: every record of the list was shown. `again`: another reading may show the rest. `dead end`: it may not,
   * the paginator does not lead on.
   */
  readonly kind: "whole" | "again" | "dead end";
  /** In the readings that count, of which the first began at `startedSeq`. */
  readonly seen: ReadonlySet<RecordId>;
  readonly earlier: EarlierReadings | null;
  /** This reading showed records that those before it, with which it counts, did not. */
  readonly grew?: boolean;
  readonly why?: string;
}

/**
 * Is the list complete? As many distinct records as its total, in this reading or together with those before it that
 * named the same total. A record without an id counts as shown. Pure.
 */
export function judgeReading(listing: Listing, shown: ShownRecords, before: EarlierReadings | null): Verdict {
  const { total, startedSeq, startedAt } = listing;
  const seen = new Set(shown.ids);
  const own = { total, startedSeq, startedAt, ids: [...seen], withoutId: shown.withoutId.length };
  const alone = { seen, total, startedSeq, startedAt, earlier: null };
  const why = deadEndOf(listing);
  if (why !== null) return { ...alone, kind: "dead end", why };
  if (!listing.steady) return { ...alone, kind: "again" };
  const all = before?.total === total && shownBy(own) !== total ? union(before, own) : own;
  if (shownBy(all) > total) return { ...alone, kind: "again", earlier: shownBy(own) < total ? own : null };
  const kind = shownBy(all) === total ? "whole" : "again";
  const grew = before !== null && all !== own && shownBy(all) > shownBy(before);
  return { ...all, kind, seen: new Set(all.ids), earlier: all, grew };
}

function shownBy({ ids, withoutId }: EarlierReadings): number {
  return ids.length + withoutId;
}

function union(before: EarlierReadings, own: EarlierReadings): EarlierReadings {
  const ids = [...new Set([...before.ids, ...own.ids])];
  return { ...before, ids, withoutId: Math.max(before.withoutId, own.withoutId) };
}

function deadEndOf({ idle, tails, overstated, total, steady }: Listing): string | null {
  if (idle >= mostIdlePages && steady)
    return `${idle} pages running showed no record that was not shown before`;
  if (tails >= mostTails && steady) return `it grew each time its end was read, to ${total} records`;
  return overstated ? `its paginator promises more pages than its ${total} records fill` : null;
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
  { ids, withoutId }: ShownRecords,
  earlier: EarlierReadings | null,
  /** Did an earlier run read the list whole? Was the last page full, and showed nothing new? */
  { wasWhole, isRepeated }: Readonly<Record<"wasWhole" | "isRepeated", boolean>>,
): Verdict {
  const seen = new Set(ids);
  const total = seen.size + withoutId.length;
  const read = { seen, total, startedSeq, startedAt, earlier: null };
  if (isRepeated) return { ...read, kind: "dead end", why: `page ${pages} showed nothing new` };
  const known = new Set(earlier?.ids);
  if (pages === 1 || wasWhole || (earlier && ids.every((id) => known.has(id))))
    return { ...read, kind: "whole" };
  const own = { startedSeq, startedAt, total: 0, ids: [...seen], withoutId: withoutId.length };
  const all = earlier ? { ...own, ids: union(earlier, own).ids } : own;
  return { ...read, kind: "again", earlier: all };
}
