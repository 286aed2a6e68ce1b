import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MirrorError } from "../../src/base/errors.ts";
import { parseBaseUrl, targetOf } from "../../src/http/base-url.ts";

test("base_url is its origin and its path without a slash at the end", () => {
  expect(parseBaseUrl("https://app.fintoro.sk/api/public/v1/")).toEqual({
    origin: "https://app.fintoro.sk",
    path: "/api/public/v1",
  });
  expect(parseBaseUrl("http://[::1]:81")).toEqual({ origin: "http://[::1]:81", path: "" });
});

const queries = fc.dictionary(
  fc.string({ minLength: 1, maxLength: 8 }),
  fc.string({ unit: "binary", maxLength: 12 }),
  { maxKeys: 4 },
);

describe("I9: whatever the path and query, the target stays under the base", () => {
  const base = parseBaseUrl("https://service.example/api/v1");

  // Fault: secrets | paths that would lead to another origin | any path of a request | the target stays under `base_url` (I9)
  test("for any path that is taken", () => {
    const pieces = "/ .. . %2e %2E a \\ @ : // ? # %2f \t é".split(" ");
    const piece = fc.constantFrom(" ", ...pieces);
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (parts) => {
        const url = urlOr(() => targetOf(base, { path: `/${parts.join("")}` }));
        return (
          url === null ||
          (url.origin === base.origin && url.pathname.startsWith("/api/v1/") && url.hash === "")
        );
      }),
      { numRuns: 2_000 },
    );
  });

  test("for any query, which arrives unchanged", () => {
    fc.assert(
      fc.property(queries, (query) => {
        const url = urlOr(() => targetOf(base, { path: "/x", query }));
        return (
          url !== null && Object.entries(query).every(([name, value]) => url.searchParams.get(name) === value)
        );
      }),
    );
  });

  function urlOr(target: () => string): URL | null {
    try {
      return new URL(base.origin + target());
    } catch (error) {
      if (error instanceof MirrorError) return null;
      throw error;
    }
  }
});

test("numbers, big ids and booleans are written as the service reads them, absent values left out", () => {
  const query = { page: 2, id: 9_007_199_254_740_993n, open: true, none: null, gone: undefined };
  expect(targetOf(parseBaseUrl("https://service.example"), { path: "/x", query })).toBe(
    "/x?page=2&id=9007199254740993&open=true",
  );
});
