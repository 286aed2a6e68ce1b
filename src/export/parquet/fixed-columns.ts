import type { ReportType } from "../../connector/report-view.ts";
import { cellEnd } from "../columns/cells.ts";
import { asciiText, realText } from "../columns/number-cell.ts";
import { Column, type Values } from "./column-buffer.ts";
import { mostRows } from "./rows.ts";
import { dictionaryOf } from "./dictionary.ts";
import { daysOf, microsOf } from "./logical-values.ts";
import { decimalOf } from "./parquet-types.ts";
import { scaledOf } from "./scaled.ts";

const zero = 0x30;
const nine = 0x39;
const minus = 0x2d;
const point = 0x2e;
/** So many decimal digits are a whole number below 2^53, exact in any arithmetic on whole numbers. */
const exactDigits = 15;
const two32 = 2 ** 32;

function endOf(cells: Uint8Array, from: number): number {
  const end = cells.indexOf(cellEnd, from);
  return end === -1 ? cells.length : end;
}

/** Whole numbers of 64 bits: integers, amounts up to 18 digits scaled by their text, microseconds. */
export class Int64Column extends Column {
  readonly #words = new Int32Array(2 * mostRows);
  readonly #bigs = new BigInt64Array(this.#words.buffer);
  readonly #numbers = new Float64Array(mostRows);
  readonly #scale: number;
  readonly #slow: (cells: Uint8Array, from: number, end: number) => bigint | null;
  #hasBig = false;

  constructor(nullable: boolean, type: ReportType) {
    super(nullable);
    const decimal = decimalOf(type);
    this.#scale = decimal?.scale ?? 0;
    this.#slow = (cells, from, end) => {
      if (type === "TIMESTAMP") return microsOf(asciiText(cells, from, end));
      if (!decimal) return BigInt(asciiText(cells, from, end));
      return scaledOf(realText(cells, from, end), decimal.precision, decimal.scale);
    };
  }

  override clear(): void {
    super.clear();
    this.#hasBig = false;
  }

  /** Most cells are a few digits with or without a point; the others are read as text. */
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
      return this.#putSlowly(cells, from);
    for (let k = 0; k < padding; k++) value *= 10;
    this.#store(negative ? -value : value);
    return i + 1;
  }

  #store(value: number): void {
    const high = Math.floor(value / two32);
    this.#words[2 * this.count] = value - high * two32;
    this.#words[2 * this.count + 1] = high;
    this.#numbers[this.count] = value;
  }

  #putSlowly(cells: Uint8Array, from: number): number {
    const end = endOf(cells, from);
    const value = this.#slow(cells, from, end);
    if (value === null) return -1;
    this.#bigs[this.count] = value;
    this.#hasBig = true;
    return end + 1;
  }

  values(): Values {
    const words = this.#words;
    const of = dictionaryOf(
      this.count,
      (i) =>
        Math.imul(words[2 * i] as number, 0x9e3779b1) ^ Math.imul(words[2 * i + 1] as number, 0x85ebca6b),
      (i, j) => words[2 * i] === words[2 * j] && words[2 * i + 1] === words[2 * j + 1],
    );
    const bytes = new Uint8Array(words.buffer);
    const dictionary = of && { plain: gathered(bytes, 8, of.firsts), of };
    const bounds = this.#hasBig ? boundsOf(this.#bigs, this.count) : boundsOf(this.#numbers, this.count);
    return {
      plain: bytes.subarray(0, 8 * this.count),
      dictionary,
      min: big(bounds.min),
      max: big(bounds.max),
    };
  }
}

/** The days of most dates there are, by the date as a number (20261122), once they are known; 0 for not yet. */
const firstKnown = 19_900_101;
const knownDays = new Int32Array(600_000);

/** Days since 1970. */
export class DateColumn extends Column {
  readonly #days = new Int32Array(mostRows);

  protected put(cells: Uint8Array, from: number): number {
    const end = from + 10;
    if (end !== cells.length && cells[end] !== cellEnd) return -1;
    if (cells[from + 4] !== minus || cells[from + 7] !== minus) return -1;
    const year = 100 * twoDigits(cells, from) + twoDigits(cells, from + 2);
    const key = (year * 100 + twoDigits(cells, from + 5)) * 100 + twoDigits(cells, from + 8);
    if (Number.isNaN(key)) return -1;
    const at = key - firstKnown;
    let days = knownDays[at] ?? 0;
    if (days === 0) {
      const found = daysOf(asciiText(cells, from, end));
      if (found === null) return -1;
      days = found;
      if (at >= 0 && at < knownDays.length) knownDays[at] = found;
    }
    this.#days[this.count] = days;
    return end + 1;
  }

  values(): Values {
    const days = this.#days;
    const of = dictionaryOf(
      this.count,
      (i) => Math.imul(days[i] as number, 0x9e3779b1),
      (i, j) => days[i] === days[j],
    );
    const bytes = new Uint8Array(days.buffer);
    const dictionary = of && { plain: gathered(bytes, 4, of.firsts), of };
    return { plain: bytes.subarray(0, 4 * this.count), dictionary, ...boundsOf(days, this.count) };
  }
}

/** NaN where they are none. */
function twoDigits(cells: Uint8Array, at: number): number {
  const high = (cells[at] as number) - zero;
  const low = (cells[at + 1] as number) - zero;
  return high >= 0 && high <= 9 && low >= 0 && low <= 9 ? 10 * high + low : Number.NaN;
}

export class DoubleColumn extends Column {
  readonly #numbers = new Float64Array(mostRows);

  protected put(cells: Uint8Array, from: number): number {
    const end = endOf(cells, from);
    this.#numbers[this.count] = Number(asciiText(cells, from, end));
    return end + 1;
  }

  values(): Values {
    const plain = new Uint8Array(this.#numbers.buffer, 0, 8 * this.count);
    return { plain, dictionary: null, ...boundsOf(this.#numbers, this.count) };
  }
}

export class BooleanColumn extends Column {
  readonly #bits = new Uint8Array(mostRows / 8);
  #trues = 0;

  override clear(): void {
    super.clear();
    this.#bits.fill(0);
    this.#trues = 0;
  }

  protected put(cells: Uint8Array, from: number): number {
    if (cells[from] !== zero) {
      const at = this.count >>> 3;
      this.#bits[at] = (this.#bits[at] as number) | (1 << (this.count & 7));
      this.#trues++;
    }
    return endOf(cells, from) + 1;
  }

  values(): Values {
    const plain = this.#bits.subarray(0, Math.ceil(this.count / 8));
    if (this.count === 0) return { plain, dictionary: null, min: undefined, max: undefined };
    return { plain, dictionary: null, min: this.#trues === this.count, max: this.#trues > 0 };
  }
}

/** Amounts past 18 digits: 16 bytes each, the highest first. */
export class WideDecimalColumn extends Column {
  readonly #bytes = new DataView(new ArrayBuffer(16 * mostRows));
  readonly #precision: number;
  readonly #scale: number;
  #min: bigint | undefined;
  #max: bigint | undefined;

  constructor(nullable: boolean, type: ReportType) {
    super(nullable);
    const { precision, scale } = decimalOf(type) ?? { precision: 38, scale: 18 };
    this.#precision = precision;
    this.#scale = scale;
  }

  override clear(): void {
    super.clear();
    this.#min = undefined;
    this.#max = undefined;
  }

  override get sizeBytes(): number {
    return 16 * this.count;
  }

  protected put(cells: Uint8Array, from: number): number {
    const end = endOf(cells, from);
    const value = scaledOf(realText(cells, from, end), this.#precision, this.#scale);
    if (value === null) return -1;
    this.#bytes.setBigInt64(16 * this.count, value >> 64n);
    this.#bytes.setBigUint64(16 * this.count + 8, BigInt.asUintN(64, value));
    if (this.#min === undefined || value < this.#min) this.#min = value;
    if (this.#max === undefined || value > this.#max) this.#max = value;
    return end + 1;
  }

  values(): Values {
    const plain = new Uint8Array(this.#bytes.buffer, 0, 16 * this.count);
    return { plain, dictionary: null, min: this.#min, max: this.#max };
  }
}

function big(bound: number | bigint | undefined): bigint | undefined {
  return bound === undefined ? undefined : BigInt(bound);
}

function gathered(bytes: Uint8Array, width: number, firsts: readonly number[]): Uint8Array {
  const out = new Uint8Array(width * firsts.length);
  for (const [k, i] of firsts.entries()) out.set(bytes.subarray(width * i, width * (i + 1)), width * k);
  return out;
}

function boundsOf<T extends number | bigint>(values: ArrayLike<T>, count: number): { min?: T; max?: T } {
  if (count === 0) return {};
  let min = values[0] as T;
  let max = min;
  for (let i = 1; i < count; i++) {
    const value = values[i] as T;
    if (value < min) min = value;
    else if (value > max) max = value;
  }
  return { min, max };
}
