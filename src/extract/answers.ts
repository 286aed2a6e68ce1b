import { messageOf } from "../base/errors.ts";
import { recordId, type RecordId } from "../base/ids.ts";
import type { ListPlan, Resource } from "../connector/resource.ts";
import { ContradictionError, ProtocolError } from "../connector/service-errors.ts";
import { cutArray, cutList, cutObject, idOf, isEmptyObject, valueOf, type ListCut } from "../json/cut.ts";
import { isObject } from "../json/literal.ts";
import { assertUtf8, parseLossless } from "../json/lossless.ts";
import { Slices } from "../json/slices.ts";

/**
 * Cuts a list. Throws MirrorError `protocol` when the body is no list of JSON records.
 *
 * @param list how the service lists them; @default as an object with the records in `data`
 */
export function readList(body: Buffer, list?: ListPlan): ListCut {
  assertUtf8(body);
  const isArray = list?.kind === "walked" || (list?.kind === "whole" && list.body === "array");
  return isArray ? { records: cutArray(body), paginator: null } : cutList(body);
}

/** The newest time in `field` of these records, ISO, UTC; null where none has one. */
export function newestStamp(records: Iterable<{ readonly slice: Buffer }>, field: string): string | null {
  let newestMs = -Infinity;
  for (const { slice } of records) {
    const text = valueOf(slice, field)?.toString();
    const ms = text?.startsWith('"') ? Date.parse(text.slice(1, -1)) : NaN;
    if (ms > newestMs) newestMs = ms;
  }
  return newestMs === -Infinity ? null : new Date(newestMs).toISOString();
}

/** The bytes of a single record, without the white space around them. Throws MirrorError `protocol`. */
export function readObject(body: Buffer): Buffer {
  assertUtf8(body);
  return cutObject(body);
}

/** The company's name in the answer of `path`, which says whose a token is. Throws MirrorError `protocol` where it names none. */
export function readCompanyName(body: Buffer, { path, field }: { path: string; field: string }): string {
  let why = "the answer names no company";
  try {
    const record = parseLossless(readObject(body));
    const name = isObject(record) ? record[field] : undefined;
    if (typeof name === "string" && name !== "") return name;
  } catch (error) {
    why = messageOf(error);
  }
  const hint = "check base_url: something else than the public API may answer there";
  throw new ProtocolError(`GET ${path}: ${why}`, { retryable: true, hint });
}

/** A detail's bytes. `withoutId`: it does not say which record it is. */
export interface Detail {
  readonly slice: Buffer;
  readonly withoutId: boolean;
}

/** Reads the detail of the record that was asked for. Throws MirrorError `protocol`; ContradictionError when another record came. */
export function readDetail(body: Buffer, asked: RecordId): Detail {
  const slice = readObject(body);
  const text = idOf(slice);
  const id = text === null ? null : recordId(text);
  if (id === null || id === asked) return { slice, withoutId: id === null };
  throw new ContradictionError(`returned record ${id}`);
}

/** The elements of a list inside a record; null when the field is absent or no list. */
export function readParts(slice: Buffer, field: string): Slices | null {
  const value = valueOf(slice, field);
  if (value && isEmptyObject(value)) return new Slices(value);
  return value?.[0] === 0x5b ? cutArray(value) : null;
}

/** Does a list show all of this record? Else it shows a preview. */
export function isShownWhole({ gives, fullWhen = [] }: Resource, slice: Buffer): boolean {
  return gives === "full" && fullWhen.every((key) => valueOf(slice, key) !== null);
}
