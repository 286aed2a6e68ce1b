import type { JsonValue } from "./literal.ts";
import { parseLossless } from "./lossless.ts";
import * as scan from "./scan.ts";

/**
 * Cuts records out of the bytes of an answer. The slices are the service's own bytes: they are hashed and stored
 * as received, and only changed ones are parsed.
 *
 * All slices of a document parse exactly when JSON.parse takes the whole document. So if one slice does not parse,
 * the whole answer is refused: its borders may be wrong too.
 */
export interface ListCut {
  /** The elements of `data`; none where it is `{}`. */
  readonly records: readonly RecordSlice[];
  /** The parsed value of `paginator`, whatever it is; null where there is none. */
  readonly paginator: JsonValue;
}

/** The bytes of one record, which share the answer's memory, and its `id` as it is written; null without a usable one. */
export interface RecordSlice {
  readonly slice: Buffer;
  readonly id: string | null;
}

/** Cuts `{ "data": [ … ], "paginator": { … } }`, keys in any order. Throws MirrorError `protocol`, as all here. */
export function cutList(body: Buffer): ListCut {
  const start = documentStart(body, scan.openObject, 'an object with "data"');
  let data: RecordSlice[] | null = null;
  let paginator: JsonValue = null;
  const end = scan.walkObject(body, start, (keyStart, keyEnd, valueAt) => {
    const key = scan.keyAt(body, keyStart, keyEnd);
    if (key === "data") {
      if (data) throw scan.malformedAt(body, keyStart, 'only one "data"');
      return cutElements(body, valueAt, (data = []));
    }
    const valueEnd = scan.skipValue(body, valueAt);
    // Members that are not cut are parsed here: a broken one makes the whole answer broken.
    const value = parseLossless(body, valueAt, valueEnd);
    if (key === "paginator") paginator = value;
    return valueEnd;
  });
  scan.assertNothingAfter(body, end);
  if (!data) throw scan.malformedAt(body, end - 1, '"data"');
  return { records: data, paginator };
}

/** Cuts a bare `[ … ]`: a whole answer, or the slice of an array inside a record. */
export function cutArray(body: Buffer): RecordSlice[] {
  const records: RecordSlice[] = [];
  const end = cutElements(body, documentStart(body, scan.openArray, "an array"), records);
  scan.assertNothingAfter(body, end);
  return records;
}

/** The bytes of a single `{ … }`, without the white space around them. */
export function cutObject(body: Buffer): Buffer {
  const start = documentStart(body, scan.openObject, "an object");
  const end = scan.skipValue(body, start);
  scan.assertNothingAfter(body, end);
  return body.subarray(start, end);
}

/** The bytes of the value of an object's key; the last one where the key is repeated, as in JSON.parse. Null without the key. */
export function valueOf(slice: Buffer, key: string): Buffer | null {
  const wanted = Buffer.from(key);
  let value: Buffer | null = null;
  scan.walkObject(slice, documentStart(slice, scan.openObject, "an object"), (keyStart, keyEnd, start) => {
    const end = scan.skipValue(slice, start);
    if (scan.isKey(slice, keyStart, keyEnd, wanted)) value = slice.subarray(start, end);
    return end;
  });
  return value;
}

/**
 * The `id` of a single record as it is written, without quotes; null when it is missing or no integer. The last one
 * where it is repeated, as in JSON.parse. The records of a list carry theirs.
 */
export function idOf(slice: Buffer): string | null {
  const trail = { at: 0 };
  scan.skipValue(slice, scan.skipSpace(slice, 0), trail);
  return integerAt(slice, trail.at);
}

/** Does an empty object `{}` begin here? PHP sends one for an empty list that was a map. */
export function isEmptyObject(bytes: Uint8Array, at = 0): boolean {
  return bytes[at] === scan.openObject && bytes[scan.skipSpace(bytes, at + 1)] === scan.closeObject;
}

function cutElements(body: Buffer, at: number, records: RecordSlice[]): number {
  if (isEmptyObject(body, at)) return scan.skipSpace(body, at + 1) + 1;
  if (body[at] !== scan.openArray) throw scan.malformedAt(body, at, "an array");
  return scan.walk(body, at, scan.closeArray, (start) => {
    const trail = { at: 0 };
    const end = scan.skipValue(body, start, trail);
    records.push({ slice: body.subarray(start, end), id: integerAt(body, trail.at) });
    return end;
  });
}

/** After white space and a byte order mark, which some proxies put before JSON. */
function documentStart(body: Buffer, open: number, expected: string): number {
  const marked = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf;
  const start = scan.skipSpace(body, marked ? 3 : 0);
  if (body[start] !== open) throw scan.malformedAt(body, start, expected);
  return start;
}

/** 20 characters hold every 64-bit integer; longer ones are no ids. */
const maxIdLength = 20;
/** A literal or a text, with what ends it. */
const integer = /^(?:(-?(?:0|[1-9][0-9]*))[,} \n\r\t]|"(-?(?:0|[1-9][0-9]*))")/;

/** The integer that a record has at `at`, a literal or a text of one; null for any other value, and for `at` 0. */
function integerAt(bytes: Buffer, at: number): string | null {
  if (at === 0) return null;
  const found = integer.exec(bytes.toString("latin1", at, at + maxIdLength + 2));
  const id = found?.[1] ?? found?.[2] ?? null;
  return id === null || id.length > maxIdLength ? null : id;
}
