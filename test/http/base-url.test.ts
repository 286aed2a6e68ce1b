import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MirrorError } from "../../src/base/errors.ts";
import { parseBaseUrl, targetOf } from "../../src/http/base-url.ts";

describe("base_url", () => {
  test.each([
    ["https://app.fintoro.sk/api/public/v1", "https://app.fintoro.sk", "/api/public/v1"],
    ["https://app.fintoro.sk/api/public/v1/", "https://app.fintoro.sk", "/api/public/v1"],
    ["https://app.fintoro.sk:8443", "https://app.fintoro.sk:8443", ""],
    ["http://127.0.0.1:8080/v1", "http://127.0.0.1:8080", "/v1"],
    ["http://127.8.9.1/v1", "http://127.8.9.1", "/v1"],
    ["http://[::1]:81/v1", "http://[::1]:81", "/v1"],
    ["http://localhost:81/v1", "http://localhost:81", "/v1"],
  ])("%s is accepted", (text, origin, path) => {
    expect(parseBaseUrl(text)).toEqual({ origin, path });
  });

  test.each([
    "",
    "app.fintoro.sk",
    "ftp://app.fintoro.sk",
    "http://app.fintoro.sk/api",
    "http://10.0.0.1/api",
    "http://localhost.evil.example/api",
    "http://127.0.0.1.evil.example/api",
    "http://[::ffff:10.0.0.1]/api",
    "https://user@app.fintoro.sk/api",
    "https://:password@app.fintoro.sk/api",
    "https://app.fintoro.sk/api?x=1",
    "https://app.fintoro.sk/api#x",
    "https://app.fintoro.sk/api?",
    "https://app.fintoro.sk//api",
  ])("%j is refused as a config error with a hint", (text) => {
    const refusal = (() => {
      try {
        return parseBaseUrl(text);
      } catch (error) {
        return error;
      }
    })();
    expect(refusal).toBeInstanceOf(MirrorError);
    expect(refusal).toMatchObject({ kind: "config", hint: expect.any(String) as string });
  });
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
    const piece = fc.constantFrom(
      "/",
      "..",
      ".",
      "%2e",
      "%2E",
      "a",
      "\\",
      "@",
      ":",
      "//",
      "?",
      "#",
      "%2f",
      "\t",
      "é",
      " ",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const url = urlOr(() => targetOf(base, { path: `/${pieces.join("")}` }));
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
