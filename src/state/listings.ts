import { sql } from "kysely";
import { assert } from "../base/errors.ts";
import { recordId, type RecordId } from "../base/ids.ts";
import type { OwnRow } from "../store/own-tables/mirror-tables.ts";
import {
  insertRow,
  parseStored,
  removeRows,
  Repository,
  selectRows,
  statement,
  updateRows,
} from "../store/own-tables/statement.ts";
import type { ListRef } from "./sweeps.ts";

/** A list while it is read. The variant of a parent's list is `clients:17`. */
export interface Listing extends ListRef, Pick<EarlierReadings, "total" | "startedSeq" | "startedAt"> {
  readonly run: number;
  readonly attempt: number;
  readonly perPage: number;
  readonly pages: number;
  /** False once the list moved in another way than by an append: this reading cannot be complete. */
  readonly steady: boolean;
  /** Pages running that showed no record that this reading had not shown before. */
  readonly idle: number;
  /** How often the tail was read again after an append. */
  readonly tails: number;
  /** Does the paginator promise more pages than its total fills? */
  readonly overstated: boolean;
}

export interface ShownRecords {
  /** In the order of the list, an id each time it was shown. */
  readonly ids: readonly RecordId[];
  /** The quarantine's keys of records without an id, one each time. */
  readonly withoutId: readonly string[];
}

export interface ListedPage extends ShownRecords, Pick<Listing, "perPage" | "total"> {
  readonly page: number;
}

/** What earlier readings showed together. They count with the next one if that names the same total. */
export interface EarlierReadings {
  /** As the page that named most said. */
  readonly total: number;
  /** When the first page of the first reading that counts was sent: rows received before, and not shown, are absent. */
  readonly startedSeq: number;
  readonly startedAt: string;
  readonly ids: readonly RecordId[];
  readonly withoutId: number;
}

/**
 * Open listings: lists of several pages of which some are still to be read, and lists that are read once more.
 *
 * Guarantee: a page is added in the transaction that applies its records, so a listing never knows more than the
 * mirror (I1). Source of truth: tables `_listings` and `_listing_pages`, with rows only while a listing is open.
 * Worst outcome of a crash: the page that was in flight is read again; the sweep goes on from there.
 */
export class Listings extends Repository {
  /** What the open readings showed, by list, so that a page is compared with all before it; made again from the tables. */
  private readonly seen = new Map<string, { pages: number; readonly shown: Set<RecordId | string> }>();

  /** Opens a listing anew, with what earlier readings showed that it continues. */
  open(listing: Listing, earlier: EarlierReadings | null): void {
    this.forgetPages(listing);
    const { startedSeq: started_seq, startedAt: started_at, perPage: per_page, ...same } = listing;
    const json = earlier && JSON.stringify({ ...earlier, ids: earlier.ids.join(",") });
    const row = { ...same, ...flagsOf(listing), started_seq, started_at, per_page, earlier: json };
    insertRow(this.db, "_listings", row, "or replace");
  }

  find(resource: string, variant: string): Listing | null {
    const row = listed.first(this.db, { resource, variant });
    return row ? { ...row, steady: row.steady === 1, overstated: row.overstated === 1 } : null;
  }

  update(listing: Listing): void {
    const { resource, variant, pages, total, idle, tails } = listing;
    const changes = { pages, total, idle, tails, ...flagsOf(listing) };
    updateRows(this.db, "_listings", changes, { resource, variant });
  }

  /**
   * Adds a page to the open listing; the same page again replaces what it showed. Returns whether it shows a record that no
   * other page of this reading showed.
   */
  putPage(listing: Listing, { page, total, ids, withoutId }: ListedPage): boolean {
    const { resource, variant } = listing;
    const key = `${resource} ${variant}`;
    const pages = this.progress(listing).read;
    let known = this.seen.get(key);
    if (known?.pages !== pages) {
      const { ids: before, withoutId: keys } = this.shown(listing);
      known = { pages, shown: new Set<RecordId | string>([...before, ...keys]) };
    }
    const size = known.shown.size;
    for (const one of ids) known.shown.add(one);
    for (const one of withoutId) known.shown.add(one);
    // Where the transaction rolls back, the number of pages differs the next time.
    this.seen.set(key, { pages: pages + 1, shown: known.shown });
    const row = { resource, variant, page, ids: ids.join(","), total, without_id: withoutId.join(",") };
    insertRow(this.db, "_listing_pages", row, "or replace");
    return known.shown.size > size;
  }

  /** `leastTotal` is the smallest total that a page named, `lastOlder` the last page that named a smaller one than the newest. */
  progress({ resource, variant, total }: Listing) {
    const found = progress.first(this.db, { resource, variant, total });
    assert(found, "count(*) gives a row");
    return found;
  }

  /** What one page showed; null where it is not read. */
  pageShown({ resource, variant }: ListRef, page: number): ShownRecords | null {
    const [row] = selectRows(this.db, "_listing_pages", shownColumns, { resource, variant, page });
    return row ? shownIn([row]) : null;
  }

  shown({ resource, variant }: ListRef): ShownRecords {
    return shownIn(selectRows(this.db, "_listing_pages", shownColumns, { resource, variant }, "page"));
  }

  /** Notes that the pages up to this one are still as they were read, although the list names another total now. */
  confirmPages({ resource, variant }: ListRef, upToPage: number, total: number): void {
    confirmPages.run(this.db, { resource, variant, upToPage, total });
  }

  /** What the readings showed that the open listing of this attempt continues. */
  earlier({ resource, variant }: ListRef, attempt: number): EarlierReadings | null {
    const json = selectRows(this.db, "_listings", ["earlier"], { resource, variant, attempt })[0]?.earlier;
    if (json === undefined || json === null) return null;
    const { ids, ...same } = parseStored(this.db, json) as EarlierReadings & { ids: string };
    return { ...same, ids: parseIds(ids) };
  }

  close(resource: string, variant: string): void {
    removeRows(this.db, "_listings", { resource, variant });
    this.forgetPages({ resource, variant });
  }

  private forgetPages({ resource, variant }: ListRef): void {
    removeRows(this.db, "_listing_pages", { resource, variant });
    this.seen.delete(`${resource} ${variant}`);
  }
}

const shownColumns = ["ids", "without_id"] as const;

const listed = statement((db, p: ListRef) => {
  const own = ["resource", "variant", "run", "attempt", "pages", "total"] as const;
  const state = ["steady", "idle", "tails", "overstated"] as const;
  const named = ["started_seq as startedSeq", "started_at as startedAt", "per_page as perPage"] as const;
  const all = db.selectFrom("_listings").select([...own, ...state, ...named]);
  return all.where((l) => l.and({ resource: p.resource, variant: p.variant }));
});
const progress = statement((db, p: ListRef & { total: number }) => {
  const least = sql<number>`coalesce(min(total), ${p.total})`.as("leastTotal");
  const older = sql<number | null>`max(page) filter (where total < ${p.total})`.as("lastOlder");
  const pages = db.selectFrom("_listing_pages").select([sql<number>`count(*)`.as("read"), least, older]);
  return pages.where((l) => l.and({ resource: p.resource, variant: p.variant }));
});

const confirmPages = statement((db, p: ListRef & { total: number; upToPage: number }) => {
  const pages = db.updateTable("_listing_pages").set({ total: p.total }).where("page", "<=", p.upToPage);
  return pages.where((l) => l.and({ resource: p.resource, variant: p.variant }));
});

function flagsOf({ steady, overstated }: Listing) {
  return { steady: Number(steady), overstated: Number(overstated) };
}

function shownIn(pages: readonly Pick<OwnRow<"_listing_pages">, "ids" | "without_id">[]): ShownRecords {
  return {
    ids: pages.flatMap(({ ids }) => parseIds(ids)),
    withoutId: pages.flatMap(({ without_id: keys }) => (keys === "" ? [] : keys.split(","))),
  };
}

function parseIds(joined: string): RecordId[] {
  return joined === "" ? [] : joined.split(",").flatMap((text) => recordId(text) ?? []);
}
