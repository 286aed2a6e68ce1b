import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { EarlierReadings } from "../../src/state/listings.ts";
import { judgeReading, nextStep, withPage, type PageEffect } from "../../src/sync/apply/reading.ts";
import { mostIdlePages, mostTails } from "../../src/sync/apply/reading.ts";
import { listing } from "../support/mirror/state-rows.ts";

const before = (ids: readonly number[], more: Partial<EarlierReadings> = {}): EarlierReadings => ({
  total: 5,
  startedSeq: 10,
  startedAt: "2026-03-01T00:00:00.000Z",
  ids,
  withoutId: 0,
  ...more,
});
const shown = (ids: readonly number[], withoutId: readonly string[] = []) => ({ ids, withoutId });

describe("a list is complete", () => {
  test("when a reading showed as many distinct records as its total, which stayed the same", () => {
    const ids = fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 8 });
    const property = fc.property(ids, fc.nat({ max: 6 }), fc.boolean(), (seen, total, steady) => {
      const expected = steady && new Set(seen).size === total;
      expect(judgeReading({ ...listing, steady, total }, shown(seen), null).kind === "whole").toBe(expected);
    });
    fc.assert(property);
  });

  test("when repeated readings showed so many together: rows that share a sort key changed places", () => {
    const verdict = judgeReading(listing, shown([1, 2, 2, 3, 4]), before([1, 2, 4, 5]));
    expect(verdict).toMatchObject({ kind: "whole", startedSeq: 10 });
    expect(verdict.seen).toEqual(new Set([1, 2, 3, 4, 5]));
  });

  test("by its own records alone where they suffice: what only an earlier reading showed is absent", () => {
    const verdict = judgeReading(listing, shown([1, 2, 3, 4, 6]), before([1, 2, 3, 5]));
    expect(verdict).toMatchObject({ kind: "whole", startedSeq: 20 });
    expect(verdict.seen.has(5)).toBe(false);
  });

  test("with records that have no id, which count as shown", () => {
    expect(judgeReading(listing, shown([1, 2, 3, 4], ["sha:a"]), null).kind).toBe("whole");
    expect(judgeReading(listing, shown([1, 2, 3], ["sha:a"]), before([1, 4], { withoutId: 1 })).kind).toBe(
      "whole",
    );
    expect(judgeReading(listing, shown([1, 2, 3], ["sha:a"]), null).kind).toBe("again");
  });
});

describe("a list is read again", () => {
  test("and what was shown so far counts with the next reading", () => {
    const { kind, earlier } = judgeReading(listing, shown([1, 2, 3]), before([1, 4]));
    expect(kind).toBe("again");
    expect(earlier).toMatchObject({ ids: [1, 4, 2, 3], startedSeq: 10, total: 5 });
  });

  test.each([
    ["the readings before named another total", listing, [1, 2], before([3, 4, 5], { total: 6 }), [1, 2]],
    ["together they show more than there is", listing, [1, 2, 3], before([4, 5, 6]), [1, 2, 3]],
    ["it moved in this reading", { ...listing, steady: false }, [1, 2, 3], before([4, 5]), undefined],
  ])("without what counts no more: %s", (_case, reading, ids, earlier, kept) => {
    const verdict = judgeReading(reading, shown(ids), earlier);
    expect(verdict).toMatchObject({ kind: "again", startedSeq: 20 });
    expect(verdict.earlier?.ids).toEqual(kept);
  });
});

const page = (
  number: number,
  ids: readonly number[],
  more: Partial<PageEffect["page"]> = {},
): PageEffect => ({
  page: { page: number, perPage: 2, total: 5, overstated: false, ids, withoutId: [], ...more },
  before: null,
  leastTotal: 5,
  showsNew: true,
});

describe("an append while a list is read", () => {
  const grown = { ...listing, total: 7 };

  test("makes the last page of before and the new ones be read, after all others", () => {
    const larger = withPage(listing, page(2, [3, 4], { total: 7 }));
    expect(larger).toMatchObject({ total: 7, steady: true });
    expect(nextStep(larger, { read: 2, leastTotal: 5, lastOlder: 3 })).toEqual({ kind: "wait" });
    expect(nextStep(larger, { read: 3, leastTotal: 5, lastOlder: 3 })).toEqual({
      kind: "read tail",
      anchor: 3,
      pages: 4,
    });
  });

  test("is believed where that page still begins with what it showed, however late an older answer comes", () => {
    const again = { ...page(3, [5, 6], { total: 7 }), before: shown([5]) };
    expect(withPage(grown, again).steady).toBe(true);
    expect(withPage(grown, page(2, [3, 4])).steady).toBe(true);
  });

  test.each([
    ["a record of before moved away", { ...page(3, [6, 7], { total: 7 }), before: shown([5]) }],
    ["the list shrank since", { ...page(3, [5, 6], { total: 6 }), before: shown([5]) }],
    ["a page names fewer records than all before it", page(2, [3, 4], { total: 4 })],
    ["a page has another size", page(2, [3], { perPage: 1 })],
  ])("is none, and the list is read again, where %s", (_case, effect) => {
    expect(withPage(grown, effect).steady).toBe(false);
  });
});

describe("a paginator that does not lead on", () => {
  test("ends a reading after three pages running without a new record", () => {
    let reading = listing;
    for (let n = 1; n <= mostIdlePages; n++) {
      expect(nextStep(reading, { read: 1, leastTotal: 5, lastOlder: null }).kind).toBe("wait");
      reading = withPage(reading, { ...page(n, [1]), showsNew: false });
    }
    expect(nextStep(reading, { read: 1, leastTotal: 5, lastOlder: null }).kind).toBe("judge");
    expect(judgeReading(reading, shown([1]), null)).toMatchObject({ kind: "dead end" });
    const shrunk = { ...reading, steady: false };
    expect(judgeReading(shrunk, shown([1]), null).kind).toBe("again");
  });

  test("ends it where the list grows each time its end is read, or promises pages that its total does not fill", () => {
    const endless = { ...listing, tails: mostTails };
    expect(nextStep(endless, { read: 3, leastTotal: 5, lastOlder: 3 }).kind).toBe("judge");
    expect(judgeReading(endless, shown([1]), null).kind).toBe("dead end");
    const overstated = withPage(listing, page(2, [3], { overstated: true }));
    expect(judgeReading(overstated, shown([1, 2, 3, 4, 5]), null).kind).toBe("dead end");
  });
});
