import assert from "node:assert/strict";
import { isUtf8 } from "node:buffer";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MirrorError } from "../../src/base/errors.ts";
import { cutArray, cutList, cutObject, idOf, valueOf } from "../../src/json/cut.ts";
import { stringifyLossless } from "../../src/json/literal.ts";
import { parseLossless } from "../../src/json/lossless.ts";
import { maxDepth } from "../../src/json/scan.ts";
import { errorOf } from "../support/errors.ts";
import {
  asDoubles,
  extremeText,
  listText,
  nativeIdOf,
  natively,
  readList,
  recordText,
  valueText,
} from "../support/json/json.ts";

/** What happens to bytes on a bad day. */
const damages = fc.array(
  fc.tuple(
    fc.constantFrom("cut", "drop", "insert", "replace", "repeat"),
    fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
    fc.oneof(fc.constantFrom(...Buffer.from('{}[]",:\\ 0e-.tn')), fc.integer({ min: 0, max: 255 })),
  ),
  { minLength: 1, maxLength: 3 },
);

function damaged(body: Buffer, list: readonly (readonly [kind: string, at: number, byte: number])[]): Buffer {
  return list.reduce((bytes, [kind, share, byte]) => {
    const at = Math.floor(share * bytes.length);
    const [head, tail] = [bytes.subarray(0, at), bytes.subarray(at)];
    if (kind === "cut") return head;
    if (kind === "drop") return Buffer.concat([head, tail.subarray(1)]);
    if (kind === "insert") return Buffer.concat([head, Buffer.of(byte), tail]);
    if (kind === "replace") return Buffer.concat([head, Buffer.of(byte), tail.subarray(1)]);
    return Buffer.concat([head, tail.subarray(0, 8), tail]);
  }, body);
}

/** A text that JSON.parse takes, and in three of four cases damage to its bytes. */
function bytesOf(text: fc.Arbitrary<string>) {
  return fc
    .tuple(text, fc.option(damages, { nil: [], freq: 3 }))
    .map(([whole, list]) => ({ bytes: damaged(Buffer.from(whole), list), isWhole: list.length === 0 }));
}

/** What `read` gives, or the MirrorError it refuses with. Any other error is thrown on: that is the test. */
function attempt<T>(read: () => T): T | MirrorError {
  try {
    return read();
  } catch (error) {
    if (error instanceof MirrorError) return error;
    throw error;
  }
}

function isPlainObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

describe("for any bytes, whole or damaged", () => {
  // Fault: data | a list answer with bytes cut, dropped, changed or repeated | answer body | read as JSON.parse reads it, or refused
  test("a list is read as JSON.parse reads the whole, or refused where that refuses too", () => {
    const property = fc.property(bytesOf(listText), ({ bytes, isWhole }) => {
      const read = attempt(() => ({ ...readList(bytes), paginator: cutList(bytes).paginator }));
      const whole = natively(bytes.toString()) as { data?: unknown; paginator?: unknown } | undefined;
      if (read instanceof MirrorError) {
        expect(read).toMatchObject({ kind: "protocol", retryable: true });
        const isUsable = typeof whole === "object" && Array.isArray(whole?.data);
        if (isUsable)
          expect([isWhole, read.message]).toEqual([false, expect.stringContaining('only one "data"')]);
        return;
      }
      // PHP writes an empty list so when it was a map.
      assert.deepEqual(read.data.map(asDoubles), isPlainObject(whole?.data) ? [] : whole?.data);
      assert.deepEqual(asDoubles(read.paginator), whole?.paginator ?? null);
    });
    fc.assert(property, { numRuns: 1200 });
  });

  test("a record's id and each value are those that JSON.parse would take, as they are written", () => {
    const property = fc.property(bytesOf(recordText), ({ bytes }) => {
      const text = bytes.toString();
      const native = natively(text);
      const id = attempt(() => idOf(bytes));
      const value = attempt(() => valueOf(bytes, "id"));
      if (!isPlainObject(native)) return;
      const written = nativeIdOf(text);
      expect(id).toBe(written !== null && written.length <= 20 ? written : null);
      expect(value === null).toBe(!Object.hasOwn(native, "id"));
      if (!isUtf8(bytes)) return;
      expect(readList(Buffer.from(`{"data":[${text}]}`)).ids).toEqual([id]);
      for (const [key, member] of Object.entries(native)) {
        // Half a surrogate pair is no key that anybody asks for, and none that bytes can hold.
        if (!key.isWellFormed()) continue;
        const found = valueOf(bytes, key);
        assert.deepEqual(found && asDoubles(parseLossless(found)), member);
      }
    });
    fc.assert(property, { numRuns: 1000 });
  });

  test("a value, an array or an object is read exactly as JSON.parse reads it, or refused", () => {
    const property = fc.property(bytesOf(valueText), ({ bytes }) => {
      const native = natively(bytes.toString());
      const value = attempt(() => asDoubles(parseLossless(bytes)));
      if (value instanceof MirrorError) expect(native).toBeUndefined();
      else assert.deepEqual(value, native);
      const object = attempt(() => asDoubles(parseLossless(cutObject(bytes))));
      if (object instanceof MirrorError) expect(native).not.toSatisfy(isPlainObject);
      else assert.deepEqual(object, native);
      const elements = attempt(() =>
        [...cutArray(bytes)].map(({ slice }) => asDoubles(parseLossless(slice))),
      );
      if (elements instanceof MirrorError) expect(Array.isArray(native)).toBe(false);
      else assert.deepEqual(elements, native);
    });
    fc.assert(property, { numRuns: 3000 });
  });
});

describe("for any JSON", () => {
  test("the native and the precise parser agree, no number loses a digit, and writing changes nothing", () => {
    const property = fc.property(valueText, (text) => {
      const value = parseLossless(text);
      // A number that a double does not hold makes the precise parser read all of it.
      assert.deepEqual(asDoubles(parseLossless(`[${text},9007199254740993]`)), [JSON.parse(text), 2 ** 53]);
      // JSON.stringify writes -0 as 0, which is the same amount.
      const written = JSON.stringify(parseLossless(stringifyLossless(value)));
      assert.deepEqual(JSON.parse(written), JSON.parse(JSON.stringify(value)));
    });
    fc.assert(property, { numRuns: 600 });
  });

  test("however deep or long, and behind a byte order mark, it is read as JSON.parse does, or refused", () => {
    const property = fc.property(extremeText, ({ text, depth }) => {
      const list = `{"data":[${text}]}`;
      const value = attempt(() => parseLossless(text));
      const read = attempt(() => readList(Buffer.from(list)));
      const isDeep = depth > maxDepth - 2;
      if (value instanceof MirrorError) expect(isDeep || natively(text) === undefined).toBe(true);
      else assert.deepEqual(asDoubles(value), natively(text));
      if (read instanceof MirrorError) expect(isDeep || natively(list) === undefined).toBe(true);
      else assert.deepEqual({ data: read.data.map(asDoubles) }, natively(list));
    });
    fc.assert(property, { numRuns: 60 });
  });

  // Fault: network | an answer that is cut off at any byte | a list | refused
  test("every beginning of a list is refused", () => {
    const text = '{"paginator":{"a":[1]},"data":[{"id":1,"n":"\\u010d\\\\"},{"č":[{}]},-1.5e3,true]}';
    const body = Buffer.from(text);
    for (let length = 0; length < body.length; length++) errorOf(() => readList(body.subarray(0, length)));
    expect(readList(body).data).toHaveLength(4);
  });
});
