import { messageOf } from "../base/errors.ts";
import { recordId, type RecordId } from "../base/ids.ts";
import type { ListPlan } from "../connector/resource.ts";
import { ContradictionError, ProtocolError } from "../connector/service-errors.ts";
import { cutArray, cutList, cutObject, idOf, isEmptyObject, valueOf } from "../json/cut.ts";
import type { ListCut, RecordSlice } from "../json/cut.ts";
import { isObject } from "../json/literal.ts";
import { assertUtf8, parseLossless } from "../json/lossless.ts";

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

/** Reads the detail of the record that was asked for. Throws MirrorError `protocol`; ContradictionError when another record came. */
export function readDetail(body: Buffer, asked: RecordId) {
  const slice = readObject(body);
  const text = idOf(slice);
  const id = text === null ? null : recordId(text);
  if (id === null || id === asked) return { slice, withoutId: id === null };
  throw new ContradictionError(`returned record ${id}`);
}

/** The elements of a list inside a record; null when the field is absent or no list. */
export function readParts(slice: Buffer, field: string): readonly RecordSlice[] | null {
  const value = valueOf(slice, field);
  if (value && isEmptyObject(value)) return [];
  return value?.[0] === 0x5b ? cutArray(value) : null;
}

/** A million records at ten a page. A longer list would fill the queue. */
const mostPages = 100_000;

export interface PageFacts {
  readonly page: number;
  readonly perPage: number;
  /** From the total, not from `totalPages`, which a broken paginator may raise without end. */
  readonly pages: number;
  readonly total: number;
  /** Does the paginator promise more pages than its total fills? */
  readonly overstated: boolean;
}

/** Pure. Throws a ContradictionError when the paginator is missing, unreadable or of another page. */
export function pageFacts(paginator: unknown, askedPage: number): PageFacts {
  if (typeof paginator !== "object" || paginator === null)
    throw new ContradictionError("returned no paginator");
  const page = count(paginator, "currentPage");
  const perPage = count(paginator, "perPage");
  const total = count(paginator, "totalResults");
  if (page !== askedPage) throw new ContradictionError(`returned page ${page}`);
  if (perPage < 1) throw new ContradictionError("returned a paginator of 0 records per page");
  const pages = Math.max(1, Math.ceil(total / perPage));
  if (pages > mostPages)
    throw new ContradictionError(`returned a paginator of ${pages} pages, more than ${mostPages}`);
  const promised = "totalPages" in paginator ? wholeNumber(paginator.totalPages) : null;
  return { page, perPage, pages, total, overstated: (promised ?? pages) > pages };
}

/**
 * The facts of a page of a list without a total. A full one is followed by another; how many records fill it is what page 1
 * shows, since a service may show fewer than it documents.
 *
 * @param pageSize as documented
 * @param asked.perPage records of a full page, as seen before; absent: one record may fill it
 */
export function walkedFacts(
  { page, perPage = 1 }: { readonly page: number; readonly perPage?: number },
  pageSize: number,
  records: number,
): PageFacts {
  const pages = records < perPage ? page : page + 1;
  const shown = page === 1 ? Math.max(1, Math.min(records, pageSize)) : perPage;
  return { page, perPage: shown, pages, total: records, overstated: false };
}

function count(paginator: object, key: string): number {
  const value: unknown = Reflect.get(paginator, key);
  const number = wholeNumber(value);
  if (number !== null) return number;
  const text = JSON.stringify(value) ?? "missing";
  throw new ContradictionError(`returned a paginator whose ${key} is ${text.slice(0, 100)}`);
}

/** PHP may give numbers as strings. */
function wholeNumber(value: unknown): number | null {
  const number = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) && number >= 0 ? number : null;
}
