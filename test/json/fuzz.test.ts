import { isDeepStrictEqual } from "node:util";
import { assert as check, property } from "fast-check";
import { describe, expect, test } from "vitest";
import { MirrorError } from "../../src/base/errors.ts";
import { cutArray, cutList, cutObject, idOf, valueOf } from "../../src/json/cut.ts";
import { parsePrecisely } from "../../src/json/precise-parser.ts";
import type { JsonValue } from "../../src/json/literal.ts";
import { parseLossless, stringifyLossless } from "../../src/json/lossless.ts";
import { maxDepth } from "../../src/json/scan.ts";
import {
  asDoubles,
  damaged,
  damages,
  listText,
  nativeIdOf,
  natively,
  readList,
  recordText,
  valueText,
} from "../support/json.ts";

const runs = { numRuns: 1500 };

/** What `read` gives, or the MirrorError it refuses with. Any other error is thrown on: that is the test. */
function attempt<T>(read: () => T): T | MirrorError {
  try {
    return read();
  } catch (error) {
    if (error instanceof MirrorError) return error;
    throw error;
  }
}

function same(actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected);
}

describe("for any JSON", () => {
  test("cutting a list and parsing its slices equals parsing the whole", () => {
    check(
      property(listText, (text) => {
        const whole = JSON.parse(text) as { data: unknown[]; paginator?: unknown };
        const body = Buffer.from(text);
        const { paginator } = cutList(body);
        same(readList(body).data.map(asDoubles), isEmptyObject(whole.data) ? [] : whole.data);
        same(asDoubles(paginator), whole.paginator ?? null);
      }),
      runs,
    );
  });

  test("a slice is the text of its record, character for character", () => {
    check(
      property(listText, (text) => {
        for (const { slice } of cutList(Buffer.from(text)).records) {
          const writing = slice.toString();
          expect(writing.trim()).toBe(writing);
          expect(text).toContain(writing);
        }
      }),
      runs,
    );
  });

  test("a record's id is the one that JSON.parse would take, as it is written", () => {
    check(
      property(recordText, (text) => {
        const native = nativeIdOf(text);
        const expected = native !== null && native.length <= 20 ? native : null;
        expect(idOf(Buffer.from(text))).toBe(expected);
        expect(readList(Buffer.from(`{"data":[${text}]}`)).ids).toEqual([expected]);
      }),
      runs,
    );
  });

  test("the bytes of each key hold the value that JSON.parse gives it", () => {
    check(
      property(recordText, (text) => {
        const slice = Buffer.from(text);
        for (const [key, value] of Object.entries(JSON.parse(text) as object)) {
          // Half a surrogate pair is no key that anybody asks for, and none that bytes can hold.
          if (!key.isWellFormed()) continue;
          const bytes = valueOf(slice, key);
          same(bytes && asDoubles(parseLossless(bytes)), value);
        }
      }),
      runs,
    );
  });

  test("the native and the precise parser agree, and no number loses a digit", () => {
    check(
      property(valueText, (text) => {
        const value = parseLossless(text);
        same(value, parsePrecisely(text, maxDepth));
        same(asDoubles(value), JSON.parse(text));
      }),
      runs,
    );
  });

  test("writing and reading again changes nothing", () => {
    check(
      property(valueText, (text) => {
        const value = parseLossless(text);
        const again = parseLossless(stringifyLossless(value));
        same(withoutSigns(again), withoutSigns(value));
      }),
      runs,
    );
  });
});

/** JSON.stringify writes -0 as 0, which is the same amount. */
function withoutSigns(value: JsonValue): unknown {
  return JSON.parse(JSON.stringify(value)) as unknown;
}

describe("for any damaged bytes", () => {
  test("a list is read as JSON.parse reads the whole, or refused where that refuses too", () => {
    check(
      property(listText, damages, (text, list) => {
        const body = damaged(Buffer.from(text), list);
        const read = attempt(() => readList(body).data.map(asDoubles));
        const whole = natively(body.toString()) as { data?: unknown } | undefined;
        if (!(read instanceof MirrorError)) {
          same(read, isEmptyObject(whole?.data) ? [] : whole?.data);
          return;
        }
        expect(read).toMatchObject({ kind: "protocol", retryable: true });
        const isUsable = typeof whole === "object" && Array.isArray(whole?.data);
        if (isUsable) expect(read.message).toContain('only one "data"');
      }),
      { numRuns: 4000 },
    );
  });

  test("parsing accepts and refuses exactly what JSON.parse does", () => {
    check(
      property(valueText, damages, (text, list) => {
        const bytes = damaged(Buffer.from(text), list);
        const value = attempt(() => parseLossless(bytes));
        const native = natively(bytes.toString());
        if (value instanceof MirrorError) expect(native).toBeUndefined();
        else same(asDoubles(value), native);
      }),
      { numRuns: 4000 },
    );
  });

  test("an array or object on its own is read as JSON.parse reads it, or refused", () => {
    check(
      property(valueText, damages, (text, list) => {
        const bytes = damaged(Buffer.from(text), list);
        const native = natively(bytes.toString());
        const object = attempt(() => asDoubles(parseLossless(cutObject(bytes))));
        if (object instanceof MirrorError) expect(isPlainObject(native)).toBe(false);
        else same(object, native);
        const array = attempt(() => [...cutArray(bytes)].map(({ slice }) => asDoubles(parseLossless(slice))));
        if (array instanceof MirrorError) expect(Array.isArray(native)).toBe(false);
        else same(array, native);
      }),
      { numRuns: 2000 },
    );
  });

  test("looking for an id or a key ends with an answer or a MirrorError", () => {
    check(
      property(recordText, damages, (text, list) => {
        const bytes = damaged(Buffer.from(text), list);
        const native = natively(bytes.toString());
        const id = attempt(() => idOf(bytes));
        const value = attempt(() => valueOf(bytes, "id"));
        if (!isPlainObject(native)) return;
        expect(id).toBe(typeof id === "string" ? nativeIdOf(bytes.toString()) : null);
        expect(value === null).toBe(!Object.hasOwn(native, "id"));
      }),
      { numRuns: 2000 },
    );
  });

  test("every beginning of a list is refused", () => {
    const text = '{"paginator":{"a":[1]},"data":[{"id":1,"n":"\\u010d\\\\"},{"č":[{}]},-1.5e3,true]}';
    const body = Buffer.from(text);
    for (let length = 0; length < body.length; length++) {
      expect(attempt(() => readList(body.subarray(0, length)))).toBeInstanceOf(MirrorError);
    }
    expect(readList(body).data).toHaveLength(4);
  });
});

/** PHP writes an empty list so when it was a map. */
function isEmptyObject(value: unknown): boolean {
  return isPlainObject(value) && Object.keys(value).length === 0;
}

function isPlainObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
