import { recordId, type RecordId } from "../base/ids.ts";
import { Repository } from "../store/repository.ts";

/** Which list is read, and since when. */
export interface ListingStart {
  readonly resource: string;
  /** `""`, a list parameter's value, or `clients:17` for a parent's list. */
  readonly variant: string;
  readonly run: number;
  /** From 1; a list that changed while it was read is read again. */
  readonly attempt: number;
  /** When its first page was sent: live rows received before that and not shown are absent. */
  readonly startedSeq: number;
  /** ISO. */
  readonly startedAt: string;
}

/** What the pages of a list say of the whole. */
export interface Listing extends ListingStart {
  readonly perPage: number;
  readonly pages: number;
  readonly total: number;
  /** Every page so far named the same totals, and held as many records as they promise. */
  readonly steady: boolean;
}

/** One page as it was answered. */
export interface ListedPage extends Pick<Listing, "perPage" | "pages" | "total"> {
  /** From 1. */
  readonly page: number;
  /** Does the page agree with its own totals? */
  readonly consistent: boolean;
  readonly ids: readonly RecordId[];
}

/** A listing of which every page is read. */
export interface CompleteListing extends Listing {
  /** In the order of the pages, an id each time it was shown. */
  readonly shown: readonly RecordId[];
}

const columns = `resource, variant, run, attempt, started_seq AS startedSeq, started_at AS startedAt,
  per_page AS perPage, pages, total, steady`;

/**
 * Open listings: lists of several pages of which some are still to be read.
 *
 * Guarantee: `addPage` runs in the transaction that applies the page's records, so a listing never knows more
 * than the mirror (I1). Source of truth: tables `_listings` and `_listing_pages`, with rows only while a listing
 * is open. Worst outcome of a crash: the page that was in flight is read again; the sweep goes on from there.
 */
export class Listings extends Repository {
  /**
   * Adds one page; page 1 opens the listing anew, the same page again replaces what it showed. Returns the
   * listing when every page is read, and closes it; null while pages are missing or no listing is open.
   */
  addPage(start: ListingStart, answer: ListedPage): CompleteListing | null {
    const { resource, variant } = start;
    const { page, perPage, pages, total, consistent, ids } = answer;
    if (page === 1) {
      const listing = { ...start, perPage, pages, total, steady: consistent };
      this.close(resource, variant);
      if (pages === 1) return { ...listing, shown: ids };
      this.open(listing);
    }
    const open = this.find(resource, variant);
    if (!open) return null;
    const steady = open.steady && consistent && total === open.total && pages === open.pages;
    const unsteady = "UPDATE _listings SET steady = 0 WHERE resource = ? AND variant = ?";
    if (!steady) this.execute(unsteady, resource, variant);
    const insert = "INSERT OR REPLACE INTO _listing_pages (resource, variant, page, ids) VALUES (?, ?, ?, ?)";
    this.execute(insert, resource, variant, page, ids.join(","));
    const select = "SELECT ids FROM _listing_pages WHERE resource = ? AND variant = ? ORDER BY page";
    const shown = this.selectColumn<string>(select, resource, variant);
    if (shown.length < open.pages) return null;
    this.close(resource, variant);
    return { ...open, steady, shown: shown.flatMap(parseIds) };
  }

  /** Forgets a listing, complete or not. */
  close(resource: string, variant: string): void {
    this.execute("DELETE FROM _listings WHERE resource = ? AND variant = ?", resource, variant);
    this.execute("DELETE FROM _listing_pages WHERE resource = ? AND variant = ?", resource, variant);
  }

  /** When an open listing was begun, ISO; null: none is open. */
  startedAt(resource: string, variant: string): string | null {
    return this.find(resource, variant)?.startedAt ?? null;
  }

  private open(listing: Listing): void {
    const sql = `INSERT INTO _listings VALUES (@resource, @variant, @run, @attempt, @startedSeq, @startedAt,
      @perPage, @pages, @total, @steady)`;
    this.execute(sql, { ...listing, steady: Number(listing.steady) });
  }

  private find(resource: string, variant: string): Listing | null {
    const sql = `SELECT ${columns} FROM _listings WHERE resource = ? AND variant = ?`;
    const [row] = this.selectAll<Omit<Listing, "steady"> & { steady: number }>(sql, resource, variant);
    return row ? { ...row, steady: row.steady === 1 } : null;
  }
}

function parseIds(joined: string): RecordId[] {
  return joined === "" ? [] : joined.split(",").flatMap((text) => recordId(text) ?? []);
}
