import { describe, expect, test } from "vitest";
import { pageFacts, readCompanyName, readDetail, readList, readParts } from "../../src/extract/answers.ts";
import { isShownWhole } from "../../src/store/apply/previews.ts";
import { errorOf } from "../support/errors.ts";
import { resourceOf } from "../support/mirror/mirror.ts";
import * as fc from "fast-check";
import { ProtocolError } from "../../src/connector/service-errors.ts";

const bytes = (text: string) => Buffer.from(text);

// Fault: data | bytes that are no UTF-8 | a list's answer | refused: they would be stored for good
test("a list with broken characters is refused: they would be stored for good", () => {
  const body = Buffer.concat([bytes('{"data":[{"id":1,"a":"'), Buffer.of(0xc4), bytes('"}]}')]);
  expect(errorOf(() => readList(body)).kind).toBe("protocol");
});

describe("a record's answer", () => {
  test("is its bytes without the white space around them; its id may be a text", () => {
    const { slice, withoutId } = readDetail(bytes(' \n{"id": 7, "a": 0.10}\n'), 7);
    expect(slice.toString()).toBe('{"id": 7, "a": 0.10}');
    expect([withoutId, readDetail(bytes('{"id":"7"}'), 7).withoutId]).toEqual([false, false]);
  });

  test.each([
    ["no id", '{"a":{"id":7}}'],
    ["null for an id", '{"id":null}'],
    ["an id beyond 64 bits", '{"id":9223372036854775808}'],
  ])("%s is said", (_what, text) => {
    expect(readDetail(bytes(text), 7).withoutId).toBe(true);
  });

  // Fault: service | another record than asked for comes | a detail's answer | refused, and asked for again
  test.each(['{"id":8}', '{"id":"8"}'])("another record, %s, is refused as retryable", (text) => {
    const error = errorOf(() => readDetail(bytes(text), 7));
    expect(error).toMatchObject({ kind: "protocol", retryable: true });
    expect(error.message).toContain("returned record 8");
  });

  test("ids beyond 2^53 are distinguished", () => {
    const body = bytes('{"id":9007199254740993}');
    expect(readDetail(body, 9_007_199_254_740_993n).slice).toEqual(body);
    expect(errorOf(() => readDetail(body, 9_007_199_254_740_992n)).kind).toBe("protocol");
  });
});

describe("parts of a record", () => {
  test("are cut from its array; an absent field, null or another shape has none", () => {
    const parts = readParts(bytes('{"id":1,"payments":[{"id":5},{"id":6}]}'), "payments");
    expect([...(parts ?? [])].map(({ id }) => id)).toEqual(["5", "6"]);
    for (const text of ['{"id":1}', '{"payments":null}', '{"payments":{"0":1}}']) {
      expect(readParts(bytes(text), "payments")).toBeNull();
    }
    for (const text of ['{"payments":[]}', '{"payments":{ }}'])
      expect(readParts(bytes(text), "payments")).toEqual([]);
  });

  test("a record is whole in a list that shows its keys, whatever their values and however they are written", () => {
    const prices = { ...resourceOf("people"), gives: "full", fullWhen: ["stocks"] } as const;
    expect(isShownWhole(prices, bytes('{"stocks":null}'))).toBe(true);
    expect(isShownWhole(prices, bytes('{"st\\u006fcks":[]}'))).toBe(true);
    expect(isShownWhole(prices, bytes('{"in":{"stocks":1}}'))).toBe(false);
    expect(isShownWhole({ ...prices, gives: "preview" }, bytes('{"stocks":null}'))).toBe(false);
  });
});

// Fault: identity | /whoami answers without a name: nothing, null, a number, a list | the answer to /whoami | the run fails: it is of no company (I10)
test.each(['{"data":{"id":1}}', '{"name":""}', '{"name":null}', '{"name":7}', "[]", "{}"])(
  "I10: an answer that names no company is none of the company: %s",
  (text) => {
    expect(errorOf(() => readCompanyName(bytes(text), { path: "/whoami", field: "name" }))).toMatchObject({
      kind: "protocol",
    });
  },
);

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
