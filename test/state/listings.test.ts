import { describe, expect } from "vitest";
import type { RecordId } from "../../src/base/ids.ts";
import { Listings, type EarlierReadings, type ListedPage } from "../../src/state/listings.ts";
import { openAgain } from "../support/mirror/mirror.ts";
import { test } from "../support/mirror/shop-test.ts";
import { listing } from "../support/mirror/state-rows.ts";

const huge = 9_007_199_254_740_993n;
const earlier: EarlierReadings = { ...listing, startedSeq: 9, ids: [1, huge], withoutId: 1 };
const page = (number: number, ids: readonly RecordId[], more: Partial<ListedPage> = {}): ListedPage => ({
  page: number,
  ids,
  withoutId: [],
  perPage: 2,
  total: 5,
  ...more,
});

describe("listings", () => {
  // Fault: process | a crash between the pages of a list | the listing's state, reopened | it has everything to continue
  test("survive a crash with everything a sweep needs to go on", async ({ mirror }) => {
    const listings = new Listings(mirror.db);
    listings.open(listing, earlier);
    listings.putPage(listing, page(1, [1, 2]));
    listings.putPage(listing, page(3, [], { withoutId: ["sha:a", "sha:b"], total: 6 }));
    const moved = { ...listing, total: 6, idle: 1, tails: 2, steady: false, overstated: true, pages: 4 };
    listings.update(moved);
    const again = new Listings((await openAgain(mirror)).db);
    expect(again.find("people", "")).toEqual(moved);
    expect(again.find("people", "other")).toBeNull();
    const before = { startedSeq: 9, ids: [1, huge], withoutId: 1, total: 5 };
    expect(again.earlier(listing, 2)).toMatchObject(before);
    expect(again.progress(moved)).toEqual({ read: 2, leastTotal: 5, lastOlder: 1 });
    expect(again.putPage(moved, page(2, [1], { withoutId: ["sha:b"] }))).toBe(false);
  });

  test("show what pages showed, ids each time they came, also beyond 2^53, and empty pages", ({ mirror }) => {
    const listings = new Listings(mirror.db);
    listings.open(listing, null);
    for (const one of [page(1, [7, 8]), page(1, [1, 3]), page(3, [])]) listings.putPage(listing, one);
    // A page read twice counts once, with what it showed last.
    expect(listings.progress(listing).read).toBe(2);
    listings.putPage(listing, page(2, [3, huge]));
    expect(listings.shown(listing)).toEqual({ ids: [1, 3, 3, huge], withoutId: [] });
    expect(listings.pageShown(listing, 2)).toEqual({ ids: [3, huge], withoutId: [] });
    expect(listings.pageShown(listing, 4)).toBeNull();
  });

  test("know whether a page shows anything new, also after a transaction that rolled back", ({ mirror }) => {
    const listings = new Listings(mirror.db);
    listings.open(listing, null);
    const add = (one: ListedPage) => listings.putPage(listing, one);
    expect(add(page(1, [1, 2]))).toBe(true);
    const lost = () => {
      add(page(3, [5, 6]));
      throw new Error("lost");
    };
    expect(() => mirror.apply(lost)).toThrow("lost");
    expect(add(page(3, [5, 6]))).toBe(true);
    expect(add(page(2, [2, 6]))).toBe(false);
  });
});
