import { recordId, type RecordId } from "../base/ids.ts";
import type { Db } from "../store/database.ts";
import { Statements } from "../store/statements.ts";

/**
 * Listings that take several answers: which pages were read and what they showed. Rows live only while
 * a listing is open; they are what lets a sweep go on after a crash instead of beginning again.
 */
export interface Listing {
  readonly resource: string;
  /** `""`, a list parameter's value, or `clients:17` for a parent's list. */
  readonly variant: string;
  readonly run: number;
  /** From 1; a listing that moved under our eyes is read again. */
  readonly attempt: number;
  /** When its first page was sent: rows received before that and not shown are absent. */
  readonly startedSeq: number;
  readonly startedAt: string;
  readonly perPage: number;
  readonly pages: number;
  readonly total: number;
  /** Every page so far told the same totals and no id came twice. */
  readonly steady: boolean;
}

interface ListingRow extends Omit<Listing, "steady" | "startedSeq" | "startedAt" | "perPage"> {
  readonly started_seq: number;
  readonly started_at: string;
  readonly per_page: number;
  readonly steady: number;
}

export class Listings {
  private readonly statements: Statements;

  constructor(db: Db) {
    this.statements = new Statements(db);
  }

  open(): Listing[] {
    return (this.statements.get("SELECT * FROM _listings").all() as ListingRow[]).map(listingOf);
  }

  get(resource: string, variant: string): Listing | null {
    const sql = "SELECT * FROM _listings WHERE resource = ? AND variant = ?";
    const row = this.statements.get(sql).get(resource, variant) as ListingRow | undefined;
    return row ? listingOf(row) : null;
  }

  begin(listing: Listing): void {
    this.end(listing.resource, listing.variant);
    this.statements
      .get("INSERT INTO _listings VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .run(
        listing.resource,
        listing.variant,
        listing.run,
        listing.attempt,
        listing.startedSeq,
        listing.startedAt,
        listing.perPage,
        listing.pages,
        listing.total,
        Number(listing.steady),
      );
  }

  unsteady(resource: string, variant: string): void {
    this.statements
      .get("UPDATE _listings SET steady = 0 WHERE resource = ? AND variant = ?")
      .run(resource, variant);
  }

  addPage(resource: string, variant: string, page: number, ids: readonly RecordId[]): void {
    this.statements
      .get("INSERT OR REPLACE INTO _listing_pages (resource, variant, page, ids) VALUES (?, ?, ?, ?)")
      .run(resource, variant, page, ids.join(","));
  }

  pagesRead(resource: string, variant: string): number {
    const sql = "SELECT count(*) FROM _listing_pages WHERE resource = ? AND variant = ?";
    return Number(this.statements.get(sql).pluck().get(resource, variant));
  }

  /** What all pages showed, one entry each time an id was shown. */
  idsShown(resource: string, variant: string): RecordId[] {
    const sql = "SELECT ids FROM _listing_pages WHERE resource = ? AND variant = ? ORDER BY page";
    const pages = this.statements.get(sql).pluck().all(resource, variant) as string[];
    return pages.flatMap((ids) => (ids === "" ? [] : ids.split(","))).flatMap((text) => recordId(text) ?? []);
  }

  end(resource: string, variant: string): void {
    this.statements.get("DELETE FROM _listings WHERE resource = ? AND variant = ?").run(resource, variant);
    this.statements
      .get("DELETE FROM _listing_pages WHERE resource = ? AND variant = ?")
      .run(resource, variant);
  }
}

function listingOf(row: ListingRow): Listing {
  const { started_seq, started_at, per_page, steady, ...same } = row;
  return { ...same, startedSeq: started_seq, startedAt: started_at, perPage: per_page, steady: steady === 1 };
}
