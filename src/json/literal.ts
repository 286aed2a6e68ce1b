import { assert, valueOr } from "../base/errors.ts";

/** Parsed JSON. A number is a NumberLiteral where a plain one would not print the same value. */
export type JsonValue = null | boolean | number | string | NumberLiteral | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue;
}

/** Is this piece of parsed JSON an object: no list, no number literal, not null? */
export function isObject(value: unknown): value is JsonObject {
  if (typeof value !== "object" || value === null) return false;
  return !Array.isArray(value) && !(value instanceof NumberLiteral);
}

/** The object that a text is as plain JSON; an empty one of any other text. */
export function objectIn(text: string): Readonly<Record<string, unknown>> {
  const content: unknown = valueOr(() => JSON.parse(text) as unknown, null);
  return isObject(content) ? content : {};
}

/** A number whose value a double would change: kept as it is written. */
export class NumberLiteral {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }

  /** JSON.stringify writes the literal itself, not a string. */
  toJSON(): unknown {
    return (JSON as typeof JSON & RawJson).rawJSON(this.text);
  }
}

/** The reverse of `parseLossless`: a number literal is written as it was read. */
export function stringifyLossless(value: JsonValue): string {
  return JSON.stringify(value);
}

/** In Node since version 21; not in the standard types yet. */
interface RawJson {
  rawJSON(text: string): unknown;
}

export function numberLiteral(text: string): number | NumberLiteral {
  return isExact(text) ? Number(text) : new NumberLiteral(text);
}

/** Does a double print as the value of this literal? */
export function isExact(text: string): boolean {
  const value = Number(text);
  const printed = String(value);
  return Number.isFinite(value) && (printed === text || isSameDecimal(decimalOf(printed), decimalOf(text)));
}

/** The exact integer that a value is, a bigint beyond 2^53. Null for anything else, and beyond 64 bits. */
export function integerOf(value: unknown): number | bigint | null {
  if (typeof value === "number")
    return Number.isSafeInteger(value) ? value + 0 : integerOf(new NumberLiteral(String(value)));
  if (!(value instanceof NumberLiteral)) return null;
  const text = decimalText(value);
  if (!/^-?[0-9]{1,19}$/.test(text)) return null;
  const whole = BigInt(text);
  return BigInt.asIntN(64, whole) === whole ? whole : null;
}

/** A literal with more places is not written out: 1e999999999 must not become its zeros. */
const maxPlaces = 1000;

/** The value in plain decimal without exponent, for CSV cells and DECIMAL columns. */
export function decimalText(value: number | bigint | NumberLiteral): string {
  assert(typeof value !== "number" || Number.isFinite(value), "an amount is a finite number");
  const text = String(value);
  const { negative, digits, exponent } = decimalOf(text);
  if (digits.length + Math.abs(exponent) > maxPlaces) return text;
  return (negative ? "-" : "") + withPoint(digits === "" ? "0" : digits, exponent);
}

function withPoint(digits: string, exponent: number): string {
  if (exponent >= 0) return digits + "0".repeat(exponent);
  const padded = digits.padStart(1 - exponent, "0");
  return `${padded.slice(0, exponent)}.${padded.slice(exponent)}`;
}

/** `digits` times ten to the `exponent`; no zeros at either end, no digits for 0. */
interface Decimal {
  readonly negative: boolean;
  readonly digits: string;
  readonly exponent: number;
}

/** Without the sign, which a double never loses. */
function isSameDecimal(a: Decimal, b: Decimal): boolean {
  return a.exponent === b.exponent && a.digits === b.digits;
}

function decimalOf(text: string): Decimal {
  const [mantissa = "", power = "0"] = text.toLowerCase().split("e");
  const unsigned = mantissa.startsWith("-") ? mantissa.slice(1) : mantissa;
  const [whole = "", fraction = ""] = unsigned.split(".");
  const all = whole + fraction;
  let first = 0;
  let last = all.length;
  while (all.charCodeAt(first) === 0x30) first++;
  while (last > first && all.charCodeAt(last - 1) === 0x30) last--;
  if (first === last) return { negative: false, digits: "", exponent: 0 };
  const exponent = Number(power) - fraction.length + (all.length - last);
  return { negative: unsigned !== mantissa, digits: all.slice(first, last), exponent };
}

/** Do two texts of a record agree in all members that both have? The order of members and zeros do not matter. */
export function jsonEquals(a: JsonValue, b: JsonValue): boolean {
  if (a === b) return true;
  if (a instanceof NumberLiteral && b instanceof NumberLiteral) return decimalText(a) === decimalText(b);
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((one, i) => jsonEquals(one, b[i] ?? null));
  if (!isObject(a) || !isObject(b)) return false;
  return Object.entries(a).every(
    ([key, value]) => !Object.hasOwn(b, key) || jsonEquals(value, b[key] ?? null),
  );
}
