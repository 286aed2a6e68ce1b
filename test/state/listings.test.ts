import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { RecordId } from "../../src/base/ids.ts";
import { Listings, type ListedPage, type ListingStart } from "../../src/state/listings.ts";
import { openShop, tempFolder } from "../support/mirror.ts";
import { rows } from "../support/store.ts";

const huge = 9_007_199_254_740_993n;
const start: ListingStart = {
  resource: "people",
  variant: "",
  run: 3,
  attempt: 2,
  startedSeq: 17,
  startedAt: "2026-03-01T00:00:00.000Z",
};
const page = (number: number, ids: readonly RecordId[], more: Partial<ListedPage> = {}): ListedPage => ({
  page: number,
  ids,
  perPage: 2,
  pages: 3,
  total: 5,
  consistent: true,
  ...more,
});
const openListings = async () => new Listings((await openShop()).db);

describe("listings", () => {
  test("survive a crash with everything a sweep needs to go on", async () => {
    const path = join(tempFolder(), "shop.db");
    const mirror = await openShop({ path });
    const listings = new Listings(mirror.db);
    expect(listings.addPage(start, page(1, [1, 2]))).toBeNull();
    expect(listings.addPage(start, page(3, [5], { total: 6 }))).toBeNull();
    mirror.close();
    const again = new Listings((await openShop({ path })).db);
    expect(again.addPage({ ...start, variant: "other" }, page(2, [3, 4]))).toBeNull();
    const later = { ...start, run: 4, startedSeq: 90, startedAt: "2026-03-02T00:00:00.000Z" };
    expect(again.addPage(later, page(2, [3, 4]))).toEqual({
      ...start,
      perPage: 2,
      pages: 3,
      total: 5,
      steady: false,
      shown: [1, 2, 3, 4, 5],
    });
  });

  test.each([
    ["disagrees with its own totals", { consistent: false }],
    ["names another total", { total: 6 }],
    ["names another number of pages", { pages: 4 }],
  ])("are not steady when a page %s", async (_case, more) => {
    const listings = await openListings();
    listings.addPage(start, page(1, [1, 2]));
    listings.addPage(start, page(2, [3, 4], more));
    expect(listings.addPage(start, page(3, [5]))).toMatchObject({ steady: false, pages: 3, total: 5 });
  });

  test("show what all pages showed, an id each time it came, empty pages and ids beyond 2^53 too", async () => {
    const listings = await openListings();
    listings.addPage(start, page(1, [1, 3]));
    listings.addPage(start, page(3, []));
    expect(listings.addPage(start, page(2, [3, huge]))).toMatchObject({
      steady: true,
      shown: [1, 3, 3, huge],
    });
  });

  test("a page read twice counts once, with what it showed last", async () => {
    const listings = await openListings();
    listings.addPage(start, page(1, [1, 2]));
    listings.addPage(start, page(2, [7, 8]));
    expect(listings.addPage(start, page(2, [3, 4]))).toBeNull();
    expect(listings.addPage(start, page(3, [5]))).toMatchObject({ shown: [1, 2, 3, 4, 5] });
  });

  test("opened again or closed, nothing of the last reading stays; other listings do", async () => {
    const mirror = await openShop();
    const listings = new Listings(mirror.db);
    const ofParent = { ...start, variant: "people:17" };
    listings.addPage(start, page(1, [1]));
    listings.addPage(start, page(3, [2]));
    listings.addPage(ofParent, page(1, [9]));
    expect(listings.addPage({ ...start, attempt: 3 }, page(1, [1]))).toBeNull();
    expect(listings.addPage(start, page(2, [4]))).toBeNull();
    listings.close("people", "");
    expect(listings.addPage(start, page(3, [2]))).toBeNull();
    expect(rows(mirror, "SELECT variant FROM _listings")).toEqual([{ variant: "people:17" }]);
    expect(rows(mirror, "SELECT variant, ids FROM _listing_pages")).toEqual([
      { variant: "people:17", ids: "9" },
    ]);
  });

  test("one page is a whole listing, and closes an earlier one of more pages", async () => {
    const mirror = await openShop();
    const listings = new Listings(mirror.db);
    listings.addPage(start, page(1, [1, 2]));
    const only = page(1, [1], { pages: 1, total: 1 });
    expect(listings.addPage(start, only)).toMatchObject({ steady: true, shown: [1], total: 1 });
    expect(rows(mirror, "SELECT * FROM _listings")).toEqual([]);
  });
});
