import assert from "node:assert/strict";
import * as fc from "fast-check";
import { MirrorError } from "../../src/base/errors.ts";
import { cutArray, cutList, cutObject, idOf, valueOf } from "../../src/json/cut.ts";
import { stringifyLossless, type JsonValue } from "../../src/json/literal.ts";
import { parseLossless } from "../../src/json/lossless.ts";
import { maxDepth } from "../../src/json/scan.ts";
import { damaged, damages } from "../support/json/damaged-bytes.ts";
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
import { fuzzTarget } from "./fuzz-target.ts";

/** What `read` gives, or the MirrorError it refuses with. Any other error is thrown on: that is the test. */
function attempt<T>(read: () => T): T | MirrorError {
  try {
    return read();
  } catch (error) {
    if (error instanceof MirrorError) return error;
    throw error;
  }
}

const lists = fuzzTarget("json/lists", 500, listText, (text) => {
  const whole = JSON.parse(text) as { data: unknown[]; paginator?: unknown };
  const body = Buffer.from(text);
  const { paginator, records } = cutList(body);
  assert.deepEqual(readList(body).data.map(asDoubles), isEmptyObject(whole.data) ? [] : whole.data);
  assert.deepEqual(asDoubles(paginator), whole.paginator ?? null);
  for (const { slice } of records) {
    const writing = slice.toString();
    assert.equal(writing.trim(), writing);
    assert.ok(text.includes(writing));
  }
});

const records = fuzzTarget("json/records", 500, recordText, (text) => {
  const slice = Buffer.from(text);
  const native = nativeIdOf(text);
  const expected = native !== null && native.length <= 20 ? native : null;
  assert.equal(idOf(slice), expected);
  assert.deepEqual(readList(Buffer.from(`{"data":[${text}]}`)).ids, [expected]);
  for (const [key, value] of Object.entries(JSON.parse(text) as object)) {
    // Half a surrogate pair is no key that anybody asks for, and none that bytes can hold.
    if (!key.isWellFormed()) continue;
    const bytes = valueOf(slice, key);
    assert.deepEqual(bytes && asDoubles(parseLossless(bytes)), value);
  }
});

const values = fuzzTarget("json/values", 600, valueText, (text) => {
  const value = parseLossless(text);
  assert.deepEqual(asDoubles(value), JSON.parse(text));
  // A number that a double does not hold makes the precise parser read all of it.
  assert.deepEqual(asDoubles(parseLossless(`[${text},9007199254740993]`)), [JSON.parse(text), 2 ** 53]);
  assert.deepEqual(withoutSigns(parseLossless(stringifyLossless(value))), withoutSigns(value));
});

const damagedLists = fuzzTarget("json/damaged-lists", 800, fc.tuple(listText, damages), ([text, list]) => {
  const body = damaged(Buffer.from(text), list);
  const read = attempt(() => readList(body).data.map(asDoubles));
  const whole = natively(body.toString()) as { data?: unknown } | undefined;
  if (!(read instanceof MirrorError)) {
    assert.deepEqual(read, isEmptyObject(whole?.data) ? [] : whole?.data);
    return;
  }
  assert.equal(read.kind, "protocol");
  assert.ok(read.retryable);
  const isUsable = typeof whole === "object" && Array.isArray(whole?.data);
  if (isUsable) assert.ok(read.message.includes('only one "data"'), read.message);
});

const damagedValues = fuzzTarget(
  "json/damaged-values",
  3000,
  fc.tuple(valueText, damages),
  ([text, list]) => {
    const bytes = damaged(Buffer.from(text), list);
    const native = natively(bytes.toString());
    const value = attempt(() => asDoubles(parseLossless(bytes)));
    if (value instanceof MirrorError) assert.equal(native, undefined);
    else assert.deepEqual(value, native);
    const object = attempt(() => asDoubles(parseLossless(cutObject(bytes))));
    if (object instanceof MirrorError) assert.equal(isPlainObject(native), false);
    else assert.deepEqual(object, native);
    const elements = attempt(() => [...cutArray(bytes)].map(({ slice }) => asDoubles(parseLossless(slice))));
    if (elements instanceof MirrorError) assert.equal(Array.isArray(native), false);
    else assert.deepEqual(elements, native);
  },
);

const damagedRecords = fuzzTarget(
  "json/damaged-records",
  800,
  fc.tuple(recordText, damages),
  ([text, list]) => {
    const bytes = damaged(Buffer.from(text), list);
    const native = natively(bytes.toString());
    const id = attempt(() => idOf(bytes));
    const value = attempt(() => valueOf(bytes, "id"));
    if (!isPlainObject(native)) return;
    assert.equal(id, typeof id === "string" ? nativeIdOf(bytes.toString()) : null);
    assert.equal(value === null, !Object.hasOwn(native, "id"));
  },
);

const extremes = fuzzTarget("json/extremes", 60, extremeText, ({ text, depth }) => {
  const list = Buffer.from(`{"data":[${text}]}`);
  const value = attempt(() => parseLossless(text));
  const read = attempt(() => readList(list));
  const isDeep = depth > maxDepth - 2;
  if (value instanceof MirrorError) assert.ok(isDeep || natively(text) === undefined);
  else assert.deepEqual(asDoubles(value), natively(text));
  if (read instanceof MirrorError) assert.ok(isDeep || natively(list.toString()) === undefined);
  else assert.deepEqual({ data: read.data.map(asDoubles) }, natively(list.toString()));
});

/** JSON.stringify writes -0 as 0, which is the same amount. */
function withoutSigns(value: JsonValue): unknown {
  return JSON.parse(JSON.stringify(value)) as unknown;
}

/** PHP writes an empty list so when it was a map. */
function isEmptyObject(value: unknown): boolean {
  return isPlainObject(value) && Object.keys(value).length === 0;
}

function isPlainObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The JSON parsers and cutters against `JSON.parse`. */
export const jsonTargets = { lists, records, values, damagedLists, damagedValues, damagedRecords, extremes };
