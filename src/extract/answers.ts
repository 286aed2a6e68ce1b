import { recordId, type RecordId } from "../base/ids.ts";
import { ProtocolError } from "../connector/service-errors.ts";
import { cutArray, cutList, cutObject, idOf, sliceOf, spanOf } from "../json/cut.ts";
import { assertUtf8, parseLossless } from "../json/lossless.ts";
import type { Slices } from "../json/slices.ts";

/** The answer to a list, cut into its records without parsing them. */
export interface ListAnswer {
  readonly records: Slices;
  /** Parsed; null without one. */
  readonly paginator: unknown;
}

/** Cuts a list. Throws MirrorError `protocol` when the body is no list of JSON records. */
export function readList(body: Buffer): ListAnswer {
  assertUtf8(body);
  const { records, paginator } = cutList(body);
  return { records, paginator: paginator ? parseLossless(sliceOf(body, paginator)) : null };
}

/** The bytes of a single record, without the white space around them. Throws MirrorError `protocol`. */
export function readObject(body: Buffer): Buffer {
  assertUtf8(body);
  return sliceOf(body, cutObject(body));
}

/** The bytes of a detail. Throws MirrorError `protocol`, also when another record came. */
export function readDetail(body: Buffer, asked: RecordId): Buffer {
  const slice = readObject(body);
  const text = idOf(slice);
  const id = text === null ? null : recordId(text);
  if (id === asked) return slice;
  const came = id === null ? "one without an id" : String(id);
  throw new ProtocolError(`record ${asked} was asked for, and ${came} came`, { retryable: true });
}

/** The elements of an array inside a record; null when the field is absent or no array. */
export function readParts(slice: Buffer, field: string): Slices | null {
  const span = spanOf(slice, field);
  if (!span || slice[span.start] !== 0x5b) return null;
  return cutArray(sliceOf(slice, span));
}

/** Does the record have this key? */
export function hasKey(slice: Buffer, key: string): boolean {
  return spanOf(slice, key) !== null;
}
