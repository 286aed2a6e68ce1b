import { recordId, type RecordId } from "../base/ids.ts";
import { ProtocolError } from "../connector/service-errors.ts";
import { cutArray, cutList, cutObject, idOf, valueOf, type ListCut } from "../json/cut.ts";
import { assertUtf8 } from "../json/lossless.ts";
import type { Slices } from "../json/slices.ts";

/** Cuts a list. Throws MirrorError `protocol` when the body is no list of JSON records. */
export function readList(body: Buffer): ListCut {
  assertUtf8(body);
  return cutList(body);
}

/** The bytes of a single record, without the white space around them. Throws MirrorError `protocol`. */
export function readObject(body: Buffer): Buffer {
  assertUtf8(body);
  return cutObject(body);
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
  const value = valueOf(slice, field);
  return value?.[0] === 0x5b ? cutArray(value) : null;
}

/** Does the record have this key? */
export function hasKey(slice: Buffer, key: string): boolean {
  return valueOf(slice, key) !== null;
}
