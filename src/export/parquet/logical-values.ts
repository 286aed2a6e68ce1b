import type { ReportType } from "../../connector/report-view.ts";
import { asciiText, realText } from "../columns/number-cell.ts";
import { decimalOf } from "./parquet-types.ts";

/** Parses the cell from `from` to `end`; undefined: the type cannot hold the value. */
type CellParser<T> = (cells: Uint8Array, from: number, end: number) => T | undefined;

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Parses cells of any type as hyparquet-writer takes their values. */
export function cellParser(type: ReportType): CellParser<unknown> {
  if (type === "TEXT") return (cells, from, end) => decoder.decode(cells.subarray(from, end));
  if (type === "REAL") return (cells, from, end) => Number(asciiText(cells, from, end));
  if (type === "BOOLEAN") return (cells, from) => cells[from] !== 0x30;
  if (type === "DATE") return (cells, from, end) => daysSinceEpoch(asciiText(cells, from, end));
  return integerParser(type);
}

/** Parses cells of types that Parquet stores as integers: INTEGER, TIMESTAMP, DECIMAL. */
export function integerParser(type: ReportType): CellParser<bigint> {
  const decimal = decimalOf(type);
  if (decimal) {
    const { precision, scale } = decimal;
    return (cells, from, end) => unscaledValue(realText(cells, from, end), precision, scale);
  }
  if (type === "TIMESTAMP") return (cells, from, end) => microsSinceEpoch(asciiText(cells, from, end));
  return (cells, from, end) => BigInt(asciiText(cells, from, end));
}

const dayMs = 86_400_000;

/** Days since 1970 of a text `YYYY-MM-DD`; undefined if the calendar has no such day. */
export function daysSinceEpoch(text: string): number | undefined {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  if (!match) return undefined;
  const ms = Date.parse(`${text}T00:00:00Z`);
  return Number.isNaN(ms) || new Date(ms).getUTCDate() !== Number(match[3]) ? undefined : ms / dayMs;
}

const timestamp = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:?\d\d)?$/;

/** Microseconds since 1970, UTC; a text without a zone is UTC. Undefined for no time, or a finer one. */
function microsSinceEpoch(text: string): bigint | undefined {
  const match = timestamp.exec(text);
  if (!match) return undefined;
  const [, date = "", time = "", fraction = "", zone = "Z"] = match;
  const ms = Date.parse(`${date}T${time}${zone}`);
  if (daysSinceEpoch(date) === undefined || Number.isNaN(ms) || /[1-9]/.test(fraction.slice(6)))
    return undefined;
  return BigInt(ms) * 1000n + BigInt(fraction.slice(0, 6).padEnd(6, "0"));
}

/**
 * The unscaled integer of a DECIMAL, from its text, without float arithmetic: `-12.5` at scale 6 ->
 * -12500000n. Undefined if it has more decimals than `scale` or more digits than `precision`.
 */
function unscaledValue(text: string, precision: number, scale: number): bigint | undefined {
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text);
  if (!match) return undefined;
  const [, sign, whole = "", fraction = ""] = match;
  if (fraction.length > scale) return undefined;
  const digits = (whole + fraction.padEnd(scale, "0")).replace(/^0+(?=\d)/, "");
  return digits.length > precision ? undefined : BigInt(`${sign}${digits}`);
}
