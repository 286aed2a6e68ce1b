import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ProtocolError } from "../../src/connector/service-errors.ts";
import { pageFacts } from "../../src/extract/page-facts.ts";

const paginator = { currentPage: 1, perPage: 10, totalPages: 3, totalResults: 25 };

function refusalOf(given: unknown, asked = 1, records = 10): string {
  try {
    pageFacts(given, asked, records);
  } catch (error) {
    if (error instanceof ProtocolError && error.retryable) return error.message;
    throw error;
  }
  return "believed";
}

describe("a correct paginator", () => {
  test.each([
    ["a full page", 1, 10],
    ["the last page", 3, 5],
  ])("%s is consistent", (_what, page, records) => {
    const facts = pageFacts({ ...paginator, currentPage: page }, page, records);
    expect(facts).toEqual({ page, perPage: 10, pages: 3, total: 25, consistent: true });
  });

  test.each([0, 1])("an empty list is one page, whether the service counts it as %i", (totalPages) => {
    const empty = { currentPage: 1, perPage: 10, totalPages, totalResults: 0 };
    expect(pageFacts(empty, 1, 0)).toMatchObject({ pages: 1, total: 0, consistent: true });
  });

  test("may give its numbers as strings, as PHP does", () => {
    const texts = Object.fromEntries(Object.entries(paginator).map(([key, value]) => [key, String(value)]));
    expect(pageFacts(texts, 1, 10)).toEqual(pageFacts(paginator, 1, 10));
  });

  test("need not state its pages: the total is enough", () => {
    const { totalPages: _, ...uncounted } = paginator;
    expect(pageFacts(uncounted, 1, 10)).toMatchObject({ pages: 3, consistent: true });
  });

  test("any list cut into pages is consistent on each of them", () => {
    const property = fc.property(
      fc.integer({ min: 1, max: 500 }),
      fc.nat({ max: 5_000 }),
      (perPage, total) => {
        const pages = Math.max(1, Math.ceil(total / perPage));
        for (const page of new Set([1, Math.ceil(pages / 2), pages])) {
          const given = { currentPage: page, perPage, totalPages: pages, totalResults: total };
          const records = Math.min(perPage, total - (page - 1) * perPage);
          expect(pageFacts(given, page, records)).toEqual({ page, perPage, pages, total, consistent: true });
        }
      },
    );
    fc.assert(property, { numRuns: 300 });
  });
});

describe("a paginator that does not agree with its records is used as inconsistent", () => {
  test.each([
    ["fewer records than promised", {}, 1, 9],
    ["more records than promised", {}, 1, 11],
    ["pages without end", { totalPages: 9_999_999 }, 1, 10],
    ["too few pages", { totalPages: 1 }, 1, 10],
    ["pages that are no number", { totalPages: "three" }, 1, 10],
    ["records past the end", { currentPage: 4 }, 4, 10],
    ["records of an empty list", { totalResults: 0, totalPages: 0 }, 1, 10],
  ])("%s", (_what, more, asked, records) => {
    const facts = pageFacts({ ...paginator, ...more }, asked, records);
    expect(facts.consistent).toBe(false);
    expect(facts.pages).toBeLessThanOrEqual(3);
  });

  test("an empty page past the end is consistent", () => {
    expect(pageFacts({ ...paginator, currentPage: 4 }, 4, 0).consistent).toBe(true);
  });
});

describe("a paginator that cannot be used is refused, to be read again", () => {
  test.each([
    ["none", undefined, "the answer has no paginator"],
    ["null", null, "the answer has no paginator"],
    ["a text", "page 1", "the answer has no paginator"],
    ["a list", [], "the paginator's currentPage is missing"],
    ["another page", { ...paginator, currentPage: 2 }, "page 1 was requested, and page 2 came"],
    ["no records per page", { ...paginator, perPage: 0 }, "0 records per page"],
    ["a negative total", { ...paginator, totalResults: -1 }, "totalResults is -1"],
    ["half a record", { ...paginator, totalResults: 1.5 }, "totalResults is 1.5"],
    ["a text that is no number", { ...paginator, totalResults: "25.0" }, 'totalResults is "25.0"'],
    ["a total beyond counting", { ...paginator, totalResults: 2 ** 53 }, "totalResults is 9007199254740992"],
    ["more pages than any list has", { ...paginator, totalResults: 2 ** 52 }, "pages, more than 100000"],
  ])("%s", (_what, given, words) => {
    expect(refusalOf(given)).toContain(words);
  });

  test("whatever it is, it is used or refused with a ProtocolError, never a crash", () => {
    const anything = fc.oneof(
      fc.anything(),
      fc.record({ currentPage: fc.anything(), perPage: fc.anything(), totalResults: fc.anything() }),
      fc.record({ currentPage: fc.constant(1), perPage: fc.nat(), totalResults: fc.maxSafeNat() }),
    );
    fc.assert(fc.property(anything, fc.nat(), (given, records) => void refusalOf(given, 1, records)));
  });
});
