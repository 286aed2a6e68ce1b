import { dayMs } from "../../base/clock.ts";
import type { ReportType } from "../../connector/report-view.ts";
import { asciiText, cellEnd, cellText, endOfCell, freeBytes, realText } from "../columns/cells.ts";
import { ColumnBuffer, type Dictionary } from "./column-buffer.ts";
import { decimalOf, maxRowGroupRows, schemaElement, type ParquetColumn } from "./parquet-types.ts";

const zero = 0x30;
const nine = 0x39;
const minus = 0x2d;
const point = 0x2e;
/** Integers of so many decimal digits are below 2^53: exact as JavaScript numbers. */
const exactDigits = 15;
const two32 = 2 ** 32;

/** INT64: integers, timestamps in microseconds, DECIMAL of up to 18 digits as its unscaled value. */
class Int64Column extends ColumnBuffer {
  /** The low and the high half of each value. */
  readonly #words = new Int32Array(2 * maxRowGroupRows);
  readonly #values = new BigInt64Array(this.#words.buffer);
  readonly #scale: number;
  readonly #parse: CellParser<bigint>;

  constructor(nullable: boolean, type: ReportType) {
    super(nullable);
    // No time is a number: with this scale each is parsed as text.
    this.#scale = type === "TIMESTAMP" ? -1 : (decimalOf(type)?.scale ?? 0);
    this.#parse = cellParser(type) as CellParser<bigint>;
  }

  protected override arrays() {
    return [this.#words];
  }

  /** Reads the usual cell, a few digits with or without a point, byte by byte; others are parsed as text. */
  protected put(cells: Uint8Array, from: number): number {
    const negative = cells[from] === minus;
    let i = negative ? from + 1 : from;
    let digits = 0;
    let value = 0;
    let places = -1;
    for (; i < cells.length; i++) {
      const byte = cells[i] as number;
      if (byte >= zero && byte <= nine) {
        value = value * 10 + (byte - zero);
        digits++;
        if (places >= 0) places++;
      } else if (byte === point && places === -1) places = 0;
      else break;
    }
    const padding = this.#scale - Math.max(0, places);
    const ended = i === cells.length || cells[i] === cellEnd;
    if (!ended || padding < 0 || digits === 0 || digits + padding > exactDigits)
      return this.#putParsed(cells, from);
    for (let k = 0; k < padding; k++) value *= 10;
    if (negative) value = -value;
    const high = Math.floor(value / two32);
    this.#words[2 * this.count] = value - high * two32;
    this.#words[2 * this.count + 1] = high;
    return i + 1;
  }

  #putParsed(cells: Uint8Array, from: number): number {
    const end = endOfCell(cells, from);
    const value = this.#parse(cells, from, end);
    if (value === undefined) return -1;
    this.#values[this.count] = value;
    return end + 1;
  }

  protected compare(i: number, j: number): number {
    const words = this.#words;
    const difference = (words[2 * i + 1] as number) - (words[2 * j + 1] as number);
    return difference === 0
      ? ((words[2 * i] as number) >>> 0) - ((words[2 * j] as number) >>> 0)
      : difference;
  }

  protected override hashAt(i: number): number {
    const words = this.#words;
    return Math.imul(words[2 * i] as number, 0x9e3779b1) ^ Math.imul(words[2 * i + 1] as number, 0x85ebca6b);
  }

  protected valueAt(i: number): bigint {
    return this.#values[i] as bigint;
  }

  protected plain(indexes: readonly number[] | undefined): Uint8Array {
    const values = indexes ? BigInt64Array.from(indexes, (i) => this.#values[i] as bigint) : this.#values;
    return new Uint8Array(values.buffer, 0, 8 * (indexes?.length ?? this.count));
  }
}

/** Known days since 1970 by the date as a number (20261122), from `firstCached` on; 0: not known yet. */
const dayCache = new Int32Array(600_000);
const firstCached = 19_900_101;

/** INT32: dates as days since 1970. */
class DateColumn extends ColumnBuffer {
  readonly #days = new Int32Array(maxRowGroupRows);

  protected override arrays() {
    return [this.#days];
  }

  protected put(cells: Uint8Array, from: number): number {
    const end = from + 10;
    if (end !== cells.length && cells[end] !== cellEnd) return -1;
    if (cells[from + 4] !== minus || cells[from + 7] !== minus) return -1;
    const year = 100 * twoDigits(cells, from) + twoDigits(cells, from + 2);
    const key = (year * 100 + twoDigits(cells, from + 5)) * 100 + twoDigits(cells, from + 8);
    if (Number.isNaN(key)) return -1;
    const at = key - firstCached;
    const days = dayCache[at] || daysSinceEpoch(asciiText(cells, from, end));
    if (days === undefined) return -1;
    dayCache[at] = days;
    this.#days[this.count] = days;
    return end + 1;
  }

  protected compare(i: number, j: number): number {
    return this.valueAt(i) - this.valueAt(j);
  }

  protected override hashAt(i: number): number {
    return Math.imul(this.valueAt(i), 0x9e3779b1);
  }

  protected valueAt(i: number): number {
    return this.#days[i] as number;
  }

  protected plain(indexes: readonly number[] | undefined): Uint8Array {
    const days = indexes ? Int32Array.from(indexes, (i) => this.valueAt(i)) : this.#days;
    return new Uint8Array(days.buffer, 0, 4 * (indexes?.length ?? this.count));
  }
}

/** NaN if these are not two digits. */
function twoDigits(cells: Uint8Array, at: number): number {
  const high = (cells[at] as number) - zero;
  const low = (cells[at + 1] as number) - zero;
  return high >= 0 && high <= 9 && low >= 0 && low <= 9 ? 10 * high + low : Number.NaN;
}

/** Other types as JavaScript values, without a dictionary: BOOLEAN, DOUBLE, DECIMAL of more than 18 digits. */
class ValueColumn extends ColumnBuffer {
  readonly #values: OtherValue[] = [];
  readonly #parse: CellParser<unknown>;

  constructor(nullable: boolean, type: ReportType) {
    super(nullable);
    this.#parse = cellParser(type);
  }

  override get sizeBytes(): number {
    return 16 * this.count;
  }

  protected put(cells: Uint8Array, from: number): number {
    const end = endOfCell(cells, from);
    const value = this.#parse(cells, from, end);
    if (value === undefined) return -1;
    this.#values[this.count] = value as OtherValue;
    return end + 1;
  }

  protected compare(i: number, j: number): number {
    return this.valueAt(i) < this.valueAt(j) ? -1 : 1;
  }

  protected valueAt(i: number): OtherValue {
    return this.#values[i] as OtherValue;
  }

  protected plain(): Uint8Array {
    const values = this.#values.slice(0, this.count);
    const doubles = values.filter((value) => typeof value === "number");
    if (doubles.length > 0) return new Uint8Array(Float64Array.from(doubles).buffer);
    if (typeof values[0] === "boolean") return bitsOf(values);
    return Buffer.concat(values.map((value) => bytesOf(BigInt(value))));
  }
}

type OtherValue = number | bigint | boolean;

/** One bit for each boolean, the lowest first. */
function bitsOf(values: readonly OtherValue[]): Uint8Array {
  const bytes = new Uint8Array(Math.ceil(values.length / 8));
  for (const [i, value] of values.entries())
    if (value) bytes[i >>> 3] = (bytes[i >>> 3] as number) | (1 << (i & 7));
  return bytes;
}

/** A DECIMAL's unscaled value in 16 bytes, the highest first. */
function bytesOf(value: bigint): Buffer {
  return Buffer.from(BigInt.asUintN(128, value).toString(16).padStart(32, "0"), "hex");
}

/** Parses the cell from `from` to `end`; undefined: the type cannot hold the value. */
type CellParser<T> = (cells: Uint8Array, from: number, end: number) => T | undefined;

/** Parses cells as hyparquet-writer takes their values: what Parquet stores as INT64 or DECIMAL is a bigint. */
export function cellParser(type: ReportType): CellParser<unknown> {
  if (type === "TEXT") return cellText;
  if (type === "REAL") return (cells, from, end) => Number(asciiText(cells, from, end));
  if (type === "BOOLEAN") return (cells, from) => cells[from] !== 0x30;
  if (type === "DATE") return (cells, from, end) => daysSinceEpoch(asciiText(cells, from, end));
  if (type === "TIMESTAMP") return (cells, from, end) => microsSinceEpoch(asciiText(cells, from, end));
  if (type === "INTEGER") return (cells, from, end) => BigInt(asciiText(cells, from, end));
  const { precision = 0, scale = 0 } = decimalOf(type) ?? {};
  return (cells, from, end) => unscaledValue(realText(cells, from, end), precision, scale);
}

/** Days since 1970 of a text `YYYY-MM-DD`; undefined if the calendar has no such day. */
function daysSinceEpoch(text: string): number | undefined {
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

/** From this length on, copying by `set` is faster than a loop. */
const longText = 64;
/** A column whose texts differ tries a dictionary again after so many row groups. */
const dictionaryEvery = 8;

/** BYTE_ARRAY: texts in PLAIN encoding, each after its length in four bytes. */
class TextColumn extends ColumnBuffer {
  #bytes: Uint8Array = new Uint8Array(64_000);
  readonly #starts = new Int32Array(maxRowGroupRows + 1);
  readonly #hashes = new Int32Array(maxRowGroupRows);
  /** Whether this row group computes hashes for a dictionary. */
  #hashing = true;
  #groups = 0;

  override get sizeBytes(): number {
    return this.#starts[this.count] as number;
  }

  protected override arrays() {
    return [this.#bytes, this.#starts, this.#hashes];
  }

  /** Finds the end first, so that the copying loop does nothing else. */
  protected put(cells: Uint8Array, from: number): number {
    const end = this.#hashing ? this.#hashCell(cells, from) : endOfText(cells, from);
    const start = this.#starts[this.count] as number;
    const length = end - from;
    const at = start + 4;
    if (at + length > this.#bytes.length) this.#grow(at + length);
    const bytes = this.#bytes;
    bytes[start] = length;
    bytes[start + 1] = length >>> 8;
    bytes[start + 2] = length >>> 16;
    bytes[start + 3] = length >>> 24;
    if (length > longText) bytes.set(cells.subarray(from, end), at);
    else for (let i = 0; i < length; i++) bytes[at + i] = cells[from + i] as number;
    this.#starts[this.count + 1] = at + length;
    return end + 1;
  }

  /** Hashes the cell (FNV-1a); returns its end. */
  #hashCell(cells: Uint8Array, from: number): number {
    let hash = 0x811c9dc5;
    let i = from;
    for (; i < cells.length; i++) {
      const byte = cells[i] as number;
      if (byte === cellEnd) break;
      hash = Math.imul(hash ^ byte, 0x01000193);
    }
    this.#hashes[this.count] = hash;
    return i;
  }

  #grow(least: number): void {
    const larger = new Uint8Array(2 * least);
    larger.set(this.#bytes);
    freeBytes(this.#bytes);
    this.#bytes = larger;
  }

  protected override findDictionary(): Dictionary | null {
    const found = super.findDictionary();
    this.#hashing = found !== null || ++this.#groups % dictionaryEvery === 0;
    return found;
  }

  protected override hashAt(i: number): number | null {
    return this.#hashing ? (this.#hashes[i] as number) : null;
  }

  protected plain(indexes: readonly number[] | undefined): Uint8Array {
    if (!indexes) return this.#bytes.subarray(0, this.sizeBytes);
    return Buffer.concat(indexes.map((i) => this.#bytes.subarray(this.#starts[i], this.#starts[i + 1])));
  }

  protected valueAt(i: number): Uint8Array {
    return this.#bytes.slice((this.#starts[i] as number) + 4, this.#starts[i + 1]);
  }

  /** Parquet orders texts by their UTF-8 bytes. */
  protected compare(i: number, j: number): number {
    const bytes = this.#bytes;
    const a = (this.#starts[i] as number) + 4;
    const b = (this.#starts[j] as number) + 4;
    const lengthOfA = (this.#starts[i + 1] as number) - a;
    const lengthOfB = (this.#starts[j + 1] as number) - b;
    const length = Math.min(lengthOfA, lengthOfB);
    for (let k = 0; k < length; k++) {
      const difference = (bytes[a + k] as number) - (bytes[b + k] as number);
      if (difference !== 0) return difference;
    }
    return lengthOfA - lengthOfB;
  }
}

/** Faster than `indexOf` for the short texts of most columns. */
function endOfText(cells: Uint8Array, from: number): number {
  let i = from;
  while (i < cells.length && cells[i] !== cellEnd) i++;
  return i;
}

export function bufferFor(column: ParquetColumn): ColumnBuffer {
  const { type, nullable } = column;
  if (type === "TEXT") return new TextColumn(nullable);
  if (type === "DATE") return new DateColumn(nullable);
  const isInt64 = schemaElement(column).type === "INT64";
  return isInt64 ? new Int64Column(nullable, type) : new ValueColumn(nullable, type);
}
