import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ProtocolError } from "../../src/connector/service-errors.ts";
import { pageFacts } from "../../src/extract/answers.ts";

const paginator = { currentPage: 1, perPage: 10, totalPages: 3, totalResults: 25 };

function refusalOf(given: unknown, asked = 1): string {
  try {
    pageFacts(given, asked);
  } catch (error) {
    if (error instanceof ProtocolError && error.retryable) return error.message;
    throw error;
  }
  return "believed";
}

describe("a correct paginator", () => {
  test.each([1, 3])("names the pages that its total fills", (page) => {
    const facts = pageFacts({ ...paginator, currentPage: page }, page);
    expect(facts).toEqual({ page, perPage: 10, pages: 3, total: 25, overstated: false });
  });

  test.each([0, 1])("an empty list is one page, whether the service counts it as %i", (totalPages) => {
    const empty = { currentPage: 1, perPage: 10, totalPages, totalResults: 0 };
    expect(pageFacts(empty, 1)).toMatchObject({ pages: 1, total: 0, overstated: false });
  });

  test("may give its numbers as strings, as PHP does", () => {
    const texts = Object.fromEntries(Object.entries(paginator).map(([key, value]) => [key, String(value)]));
    expect(pageFacts(texts, 1)).toEqual(pageFacts(paginator, 1));
  });

  test("need not state its pages, and may have smaller ones than were asked for", () => {
    const { totalPages: _, ...uncounted } = paginator;
    expect(pageFacts(uncounted, 1)).toMatchObject({ pages: 3, overstated: false });
    expect(pageFacts({ ...paginator, perPage: 5 }, 1)).toMatchObject({ perPage: 5, pages: 5 });
  });
});

// Fault: pagination | more pages than the total fills | a list's answer | not believed
test.each([9_999_999, 4])("more pages than the total fills are not believed: %i", (totalPages) => {
  expect(pageFacts({ ...paginator, totalPages }, 1)).toMatchObject({ pages: 3, overstated: true });
});

describe("a paginator that cannot be used is refused, to be read again", () => {
  test.each([
    ["none", undefined, "returned no paginator"],
    ["null", null, "returned no paginator"],
    ["a text", "page 1", "returned no paginator"],
    ["a list", [], "currentPage is missing"],
    ["another page", { ...paginator, currentPage: 2 }, "returned page 2"],
    ["no records per page", { ...paginator, perPage: 0 }, "0 records per page"],
    ["a negative total", { ...paginator, totalResults: -1 }, "totalResults is -1"],
    ["half a record", { ...paginator, totalResults: 1.5 }, "totalResults is 1.5"],
    ["a text that is no number", { ...paginator, totalResults: "25.0" }, 'totalResults is "25.0"'],
    ["a total beyond counting", { ...paginator, totalResults: 2 ** 53 }, "totalResults is 9007199254740992"],
    ["more pages than any list has", { ...paginator, totalResults: 2 ** 52 }, "pages, more than 100000"],
  ])("%s", (_what, given, words) => {
    expect(refusalOf(given)).toContain(words);
  });

  // Fault: pagination | any paginator whatsoever | a list's answer | used or refused, never a crash
  test("whatever it is, it is used or refused with a ContradictionError, never a crash", () => {
    const anything = fc.oneof(
      fc.anything(),
      fc.record({ currentPage: fc.anything(), perPage: fc.anything(), totalResults: fc.anything() }),
      fc.record({ currentPage: fc.constant(1), perPage: fc.nat(), totalResults: fc.maxSafeNat() }),
    );
    fc.assert(fc.property(anything, fc.nat(), (given, asked) => void refusalOf(given, asked)));
  });
});
