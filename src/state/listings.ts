import { recordId, type RecordId } from "../base/ids.ts";
import { insertRow, removeRows, updateRows } from "../store/own-tables/own-rows.ts";
import { Repository } from "../store/repository.ts";

/** Which list is read, and since when. */
export interface ListingStart {
  readonly resource: string;
  /** `""`, a list parameter's value, or `clients:17` for a parent's list. */
  readonly variant: string;
  readonly run: number;
  /** Number of the reading, from 1. */
  readonly attempt: number;
  /** When the first page of the first reading that counts was sent: rows received before, and not shown, are absent. */
  readonly startedSeq: number;
  /** ISO. */
  readonly startedAt: string;
}

/** What is known of one reading of a list. */
export interface Listing extends ListingStart {
  readonly perPage: number;
  /** Pages that are read or queued. */
  readonly pages: number;
  /** As the page that named most said. */
  readonly total: number;
  /** False once the list moved in another way than by an append: this reading cannot be complete. */
  readonly steady: boolean;
  /** Pages running that showed no record that this reading had not shown before. */
  readonly idle: number;
  /** How often the tail was read again after an append. */
  readonly tails: number;
  /** Does the paginator promise more pages than its total fills? */
  readonly overstated: boolean;
}

/** What a list, or a page of it, showed. */
export interface Shown {
  /** In the order of the list, an id each time it was shown. */
  readonly ids: readonly RecordId[];
  /** The quarantine's keys of records without an id, one each time. */
  readonly withoutId: readonly string[];
}

/** One page as it was answered, numbered from 1. */
export interface ListedPage extends Shown, Pick<Listing, "perPage" | "total"> {
  readonly page: number;
}

/** What earlier readings showed together. They count with the next one if that names the same total. */
export interface EarlierReadings extends Pick<Listing, "total" | "startedSeq" | "startedAt"> {
  readonly ids: readonly RecordId[];
  /** Records without an id, in one reading. */
  readonly withoutId: number;
}

/** How far a reading is. */
export interface ReadingProgress {
  /** Pages read. */
  readonly read: number;
  /** The smallest total that a page named. */
  readonly leastTotal: number;
  /** The last page that named a smaller total than the newest; null: none did. */
  readonly lastOlder: number | null;
}

type StoredListing = Omit<Listing, "steady" | "overstated"> & { steady: number; overstated: number };

const columns = `resource, variant, run, attempt, started_seq AS startedSeq, started_at AS startedAt,
  per_page AS perPage, pages, total, steady, idle, tails, overstated`;

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
    const sql = `INSERT OR REPLACE INTO _listings (resource, variant, run, attempt, started_seq, started_at, per_page,
      pages, total, steady, idle, tails, overstated, earlier) VALUES (@resource, @variant, @run, @attempt, @startedSeq,
      @startedAt, @perPage, @pages, @total, @steady, @idle, @tails, @overstated, @earlier)`;
    this.forgetPages(listing);
    const json = earlier && JSON.stringify({ ...earlier, ids: earlier.ids.join(",") });
    this.execute(sql, { ...stored(listing), earlier: json });
  }

  find(resource: string, variant: string): Listing | null {
    const sql = `SELECT ${columns} FROM _listings WHERE resource = ? AND variant = ?`;
    const [row] = this.selectAll<StoredListing>(sql, resource, variant);
    return row ? { ...row, steady: row.steady === 1, overstated: row.overstated === 1 } : null;
  }

  update(listing: Listing): void {
    const { resource, variant, pages, total, steady, idle, tails, overstated } = stored(listing);
    updateRows(
      this.db,
      "_listings",
      { pages, total, steady, idle, tails, overstated },
      { resource, variant },
    );
  }

  /** Adds a page to the open listing; the same page again replaces what it showed. */
  putPage({ resource, variant }: ListingStart, { page, total, ids, withoutId }: ListedPage): void {
    const row = { resource, variant, page, ids: ids.join(","), total, without_id: withoutId.join(",") };
    insertRow(this.db, "_listing_pages", row, "or replace");
  }

  /** Does the page show a record that no other page of this reading showed? Asked before the page is added. */
  showsNew(listing: Listing, { ids, withoutId }: Shown): boolean {
    const key = `${listing.resource} ${listing.variant}`;
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
    return known.shown.size > size;
  }

  /** How far the reading of an open listing is. */
  progress({ resource, variant, total }: Listing): ReadingProgress {
    const sql = `SELECT count(*) AS read, coalesce(min(total), @total) AS leastTotal,
      max(page) FILTER (WHERE total < @total) AS lastOlder FROM _listing_pages
      WHERE resource = @resource AND variant = @variant`;
    const [row] = this.selectAll<ReadingProgress>(sql, { resource, variant, total });
    if (!row) throw new Error("broken promise: count(*) gives a row");
    return row;
  }

  /** What one page showed; null where it is not read. */
  pageShown({ resource, variant }: ListingStart, page: number): Shown | null {
    const sql = `SELECT ids, without_id AS withoutId FROM _listing_pages
      WHERE resource = ? AND variant = ? AND page = ?`;
    const [row] = this.selectAll<StoredPage>(sql, resource, variant, page);
    return row ? shownIn([row]) : null;
  }

  /** What the pages showed together. */
  shown({ resource, variant }: ListingStart): Shown {
    const sql = `SELECT ids, without_id AS withoutId FROM _listing_pages WHERE resource = ? AND variant = ?
      ORDER BY page`;
    return shownIn(this.selectAll<StoredPage>(sql, resource, variant));
  }

  /** Notes that the pages up to this one are still as they were read, although the list names another total now. */
  confirmPages({ resource, variant }: ListingStart, upToPage: number, total: number): void {
    const sql = "UPDATE _listing_pages SET total = ? WHERE resource = ? AND variant = ? AND page <= ?";
    this.execute(sql, total, resource, variant, upToPage);
  }

  /** What the readings showed that an open listing continues. */
  earlier({ resource, variant }: Pick<ListingStart, "resource" | "variant">): EarlierReadings | null {
    const sql = "SELECT earlier FROM _listings WHERE resource = ? AND variant = ? AND earlier IS NOT NULL";
    const [json] = this.selectColumn<string>(sql, resource, variant);
    if (json === undefined) return null;
    const { ids, ...same } = JSON.parse(json) as EarlierReadings & { ids: string };
    return { ...same, ids: parseIds(ids) };
  }

  /** Forgets a listing, complete or not. */
  close(resource: string, variant: string): void {
    removeRows(this.db, "_listings", { resource, variant });
    this.forgetPages({ resource, variant });
  }

  private forgetPages({ resource, variant }: Pick<ListingStart, "resource" | "variant">): void {
    removeRows(this.db, "_listing_pages", { resource, variant });
    this.seen.delete(`${resource} ${variant}`);
  }
}

interface StoredPage {
  readonly ids: string;
  readonly withoutId: string;
}

function stored(listing: Listing): StoredListing {
  return { ...listing, steady: Number(listing.steady), overstated: Number(listing.overstated) };
}

function shownIn(pages: readonly StoredPage[]): Shown {
  return {
    ids: pages.flatMap(({ ids }) => parseIds(ids)),
    withoutId: pages.flatMap(({ withoutId }) => (withoutId === "" ? [] : withoutId.split(","))),
  };
}

function parseIds(joined: string): RecordId[] {
  return joined === "" ? [] : joined.split(",").flatMap((text) => recordId(text) ?? []);
}
