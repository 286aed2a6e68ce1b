/**
 * Cuts records out of the bytes of an answer. The slices are the service's own bytes: they are hashed
 * and kept as they came, and only those that changed are parsed.
 *
 * The guarantee: a document is cut and all its slices parse exactly when JSON.parse takes the whole of
 * it. So a slice that does not parse condemns its whole answer: its borders may be wrong too.
 */
import { MirrorError } from "../base/errors.ts";
import { malformedAt } from "./malformed.ts";
import { decodeString, isKey } from "./key.ts";
import { parseLossless } from "./lossless.ts";
import { skipSpace, skipValue } from "./scan.ts";
import type { IdTrail, Span } from "./scan.ts";
import { SliceTable, type Slices } from "./slices.ts";
import { walkArray, walkObject } from "./walk.ts";

export interface ListCut {
  /** The elements of `data`. */
  readonly records: Slices;
  /** The value of `paginator`, whatever it is; null where there is none. */
  readonly paginator: Span | null;
}

const maxBytes = 0xffff_ffff;

/** `{ "data": [ … ], "paginator": { … } }`, keys in any order. */
export function cutList(body: Buffer): ListCut {
  const start = documentStart(body, 0x7b, 'an object with "data"');
  let data: SliceTable | null = null;
  let paginator: Span | null = null;
  const end = walkObject(body, start, (keyStart, keyEnd, valueAt) => {
    const key = decodeString(body, keyStart, keyEnd);
    if (key === undefined) throw malformedAt(body, keyStart, "a well formed key");
    if (key === "data") {
      if (data) throw malformedAt(body, keyStart, 'only one "data"');
      data = new SliceTable(body);
      return cutElements(body, valueAt, data);
    }
    const span = checkedSpan(body, valueAt);
    if (key === "paginator") paginator = span;
    return span.end;
  });
  assertNothingAfter(body, end);
  if (!data) throw malformedAt(body, end - 1, '"data"');
  return { records: data, paginator };
}

/** A bare `[ … ]`: a whole answer, or the slice of an array inside a record. */
export function cutArray(body: Buffer): Slices {
  const table = new SliceTable(body);
  const end = cutElements(body, documentStart(body, 0x5b, "an array"), table);
  assertNothingAfter(body, end);
  return table;
}

/** A single `{ … }`: where it stands in its answer. */
export function cutObject(body: Buffer): Span {
  const start = documentStart(body, 0x7b, "an object");
  const end = skipValue(body, start, noTrail());
  assertNothingAfter(body, end);
  return { start, end };
}

/** The value of an object's own key, the last one where it is repeated (as in JSON.parse); null without one. */
export function spanOf(slice: Buffer, key: string): Span | null {
  const wanted = Buffer.from(key);
  const trail = noTrail();
  let span: Span | null = null;
  walkObject(slice, documentStart(slice, 0x7b, "an object"), (keyStart, keyEnd, start) => {
    const end = skipValue(slice, start, trail);
    if (isKey(slice, keyStart, keyEnd, wanted)) span = { start, end };
    return end;
  });
  return span;
}

export function sliceOf(body: Buffer, span: Span): Buffer {
  return body.subarray(span.start, span.end);
}

function cutElements(body: Buffer, at: number, table: SliceTable): number {
  if (body[at] !== 0x5b) throw malformedAt(body, at, "an array");
  const trail = noTrail();
  return walkArray(body, at, (start) => {
    trail.at = 0;
    const end = skipValue(body, start, trail);
    table.add(start, end, trail.at);
    return end;
  });
}

/** A member that nobody cuts is parsed here, or a broken answer could pass for a good one. */
function checkedSpan(body: Buffer, start: number): Span {
  const end = skipValue(body, start, noTrail());
  parseLossless(body.subarray(start, end), start);
  return { start, end };
}

/** Past a byte order mark, which some proxies put before JSON, and white space. */
function documentStart(body: Buffer, open: number, expected: string): number {
  if (body.length > maxBytes)
    throw new MirrorError("protocol", `an answer of ${body.length} bytes is too long`);
  const marked = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf;
  const start = skipSpace(body, marked ? 3 : 0);
  if (body[start] !== open) throw malformedAt(body, start, expected);
  return start;
}

function assertNothingAfter(body: Buffer, end: number): void {
  const rest = skipSpace(body, end);
  if (rest < body.length) throw malformedAt(body, rest, "nothing after the document");
}

function noTrail(): IdTrail {
  return { at: 0 };
}
