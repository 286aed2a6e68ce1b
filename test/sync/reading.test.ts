import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { EarlierReadings } from "../../src/state/listings.ts";
import { judgeReading, withPage } from "../../src/sync/lists/reading.ts";
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

  test("by its own records alone where they suffice: what only an earlier reading showed is absent", () => {
    const verdict = judgeReading(listing, shown([1, 2, 3, 4, 6]), before([1, 2, 3, 5]));
    expect(verdict).toMatchObject({ kind: "whole", startedSeq: 20 });
    expect(verdict.seen).not.toContain(5);
  });
});

test.each([
  ["the readings before named another total", listing, [1, 2], before([3, 4, 5], { total: 6 }), [1, 2]],
  ["together they show more than there is", listing, [1, 2, 3], before([4, 5, 6]), [1, 2, 3]],
  ["it moved in this reading", { ...listing, steady: false }, [1, 2, 3], before([4, 5]), undefined],
])("a list is read again without what counts no more: %s", (_case, reading, ids, earlier, kept) => {
  const verdict = judgeReading(reading, shown(ids), earlier);
  expect(verdict).toMatchObject({ kind: "again", startedSeq: 20 });
  expect(verdict.earlier?.ids).toEqual(kept);
});

type PageEffect = Parameters<typeof withPage>[1];

const page = (number: number, ids: readonly number[], more: Partial<PageEffect["page"]> = {}) => ({
  page: { page: number, perPage: 2, total: 5, overstated: false, ids, withoutId: [], ...more },
  before: null,
  leastTotal: 5,
  showsNew: true,
});

test.each([
  ["a record of before moved away", { ...page(3, [6, 7], { total: 7 }), before: shown([5]) }],
  ["the list shrank since", { ...page(3, [5, 6], { total: 6 }), before: shown([5]) }],
  ["a page names fewer records than all before it", page(2, [3, 4], { total: 4 })],
  ["a page has another size", page(2, [3], { perPage: 1 })],
])("an append is none, and the list is read again, where %s", (_case, effect) => {
  expect(withPage({ ...listing, total: 7 }, effect).steady).toBe(false);
});
