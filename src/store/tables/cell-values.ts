import type { ColumnScalar } from "./table-plan.ts";
import {
  integerOf,
  numberLiteral,
  NumberLiteral,
  stringifyLossless,
  type JsonValue,
} from "../../json/literal.ts";

/** A value that the column can hold; undefined: it cannot. */
export type CellValue = number | bigint | string | null | undefined;

/**
 * The cell of a column for a value of the service. PHP may send numbers as text and truth as 0 and 1: they are
 * read as what the column holds.
 */
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
  const number = numberIn(value);
  return number === 0 || number === 1 ? number : undefined;
}

function integerCell(value: JsonValue): CellValue {
  return integerOf(numberIn(value)) ?? undefined;
}

function decimalCell(value: JsonValue): CellValue {
  const number = numberIn(value);
  const double = number instanceof NumberLiteral ? Number(number.text) : number;
  return Number.isFinite(double) ? double : undefined;
}

/** The number that a value is or spells; undefined for any other. */
function numberIn(value: JsonValue): number | NumberLiteral | undefined {
  if (typeof value === "number" || value instanceof NumberLiteral) return value;
  const isNumber = typeof value === "string" && /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(value);
  return isNumber ? numberLiteral(value) : undefined;
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
