import type { ColumnScalar } from "./table-plan.ts";
import { integerOf, NumberLiteral, type JsonValue } from "../../json/literal.ts";
import { stringifyLossless } from "../../json/lossless.ts";

/** A value that the column can hold; undefined: it cannot. */
export type CellValue = number | bigint | string | null | undefined;

const int64 = 2n ** 63n;

/** The cell of a column for a value of the service. Numbers that came as text are read as numbers. */
export function cellValue(scalar: ColumnScalar, value: JsonValue | undefined): CellValue {
  return value === null || value === undefined ? null : readers[scalar](value);
}

const readers: Readonly<Record<ColumnScalar, (value: JsonValue) => CellValue>> = {
  integer: integerCell,
  decimal: decimalCell,
  boolean: booleanCell,
  text: textCell,
  date: textCell,
  timestamp: timestampCell,
  json: stringifyLossless,
  any: anyCell,
};

function booleanCell(value: JsonValue): CellValue {
  if (typeof value === "boolean") return Number(value);
  return value === 0 || value === 1 ? value : undefined;
}

function integerCell(value: JsonValue): CellValue {
  if (typeof value === "number" || value instanceof NumberLiteral) return integerOf(value) ?? undefined;
  if (typeof value !== "string" || !/^-?\d{1,19}$/.test(value)) return undefined;
  const exact = BigInt(value);
  if (exact >= int64 || exact < -int64) return undefined;
  return Number.isSafeInteger(Number(exact)) ? Number(exact) : exact;
}

function decimalCell(value: JsonValue): CellValue {
  if (typeof value === "number") return value;
  const text = value instanceof NumberLiteral ? value.text : value;
  if (typeof text !== "string" || !/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text)) return undefined;
  const number = Number(text);
  return Number.isFinite(number) ? number : undefined;
}

/** SQLite stores half a surrogate pair as U+FFFD, so it is compared as that. */
function textCell(value: JsonValue): CellValue {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value === "number" || value instanceof NumberLiteral) return stringifyLossless(value);
  return undefined;
}

/** `2026-03-01 12:00:00` -> `2026-03-01T12:00:00`: ISO, without a zone, because the service names none. */
function timestampCell(value: JsonValue): CellValue {
  if (typeof value !== "string") return undefined;
  return value.replace(/^(\d{4}-\d\d-\d\d) (?=\d\d:\d\d)/, "$1T").toWellFormed();
}

/** Integers are bound as bigint: SQLite would otherwise keep them as REAL in an ANY column. */
function anyCell(value: JsonValue): CellValue {
  if (typeof value === "number" || value instanceof NumberLiteral) {
    const whole = integerOf(value);
    if (whole !== null) return BigInt(whole);
    return typeof value === "number" ? value : value.text;
  }
  if (typeof value === "boolean") return BigInt(value);
  if (typeof value === "string") return value.toWellFormed();
  return stringifyLossless(value);
}
