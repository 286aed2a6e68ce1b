import { isCalendarDay } from "./clock.ts";

/** A record's id: a number up to 2^53, a bigint beyond. Always in this form, so that `===` and Map keys work. */
export type RecordId = number | bigint;

const maxRowId = 9_223_372_036_854_775_807n;
const maxNumber = BigInt(Number.MAX_SAFE_INTEGER);

/** Where a walk through the ids of a table begins: before the first, also where a table holds what is no id. */
export const firstId = BigInt(Number.MIN_SAFE_INTEGER);

export interface RecordRef {
  readonly resource: string;
  readonly id: RecordId;
}

/** Reads an id from digits. Null for anything that is no rowid SQLite can hold, negative numbers included. */
export function recordId(text: string): RecordId | null {
  // Fast path: nearly all ids need no bigint.
  if (/^\d{1,15}$/.test(text)) return Number(text);
  if (!/^-?\d{1,19}$/.test(text)) return null;
  const value = BigInt(text);
  if (value < 0n || value > maxRowId) return null;
  return canonicalId(value);
}

export function canonicalId(id: RecordId): RecordId {
  if (typeof id === "number") return id;
  return id <= maxNumber ? Number(id) : id;
}

/** A number of the change log; `log` is its identity, null where nobody said. */
export interface LogPosition {
  readonly log: string | null;
  readonly seq: number;
}

/** Parses `LOG:SEQ`, or `SEQ` alone; null: it is neither. */
export function parsePosition(text: string): LogPosition | null {
  const [, log = null, digits = ""] = /^(?:([\da-z]{4,40}):)?(\d{1,16})$/.exec(text) ?? [];
  const seq = Number(digits);
  return digits !== "" && Number.isSafeInteger(seq) ? { log, seq } : null;
}

/** A moment as people name it: the end of a day such as `2026-10-25`, a time with its zone, or a position. */
export type AskedMoment =
  | { readonly kind: "day"; readonly day: string }
  | { readonly kind: "time"; readonly atMs: number }
  | { readonly kind: "position"; readonly position: LogPosition };

/** Parses what `--as-of` takes; null: it is none of them. */
export function parseMoment(text: string): AskedMoment | null {
  if (isCalendarDay(text)) return { kind: "day", day: text };
  const position = parsePosition(text);
  if (position) return { kind: "position", position };
  const isTime = /^.{10}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/.test(text);
  // The language takes a 31st of February for the 3rd of March.
  const atMs = isTime && isCalendarDay(text.slice(0, 10)) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? null : { kind: "time", atMs };
}
