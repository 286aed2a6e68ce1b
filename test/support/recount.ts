import type { Dict } from "./truth.ts";

/**
 * What the views must say, counted again from the service's own records in whole cents: plain loops over
 * JSON, no SQL, no floats.
 */
export type Records = ReadonlyMap<string, readonly Dict[]>;
export type Row = Record<string, string | number | null>;

/** The digits of a JSON number as a whole number of 10^-digits. */
export function scaled(value: unknown, digits: number): bigint {
  const text = Number(value).toFixed(digits + 4);
  const [whole = "", fraction = ""] = text.split(".");
  const number = BigInt(whole + fraction);
  if (number % 10_000n !== 0n) throw new Error(`${String(value)} has more than ${digits} decimals`);
  return number / 10_000n;
}

export function cents(value: unknown): bigint {
  return scaled(value, 2);
}

/** Half away from zero. */
export function divided(a: bigint, b: bigint): bigint {
  const [x, y] = [a < 0n ? -a : a, b < 0n ? -b : b];
  const rounded = (2n * x + y) / (2n * y);
  return a < 0n === b < 0n ? rounded : -rounded;
}

export function euro(amount: bigint, rate: unknown): bigint {
  return divided(amount * 1_000_000n, scaled(rate, 6));
}

export function units(amount: bigint): number {
  return Number(amount) / 100;
}

export function of(records: Records, table: string): readonly Dict[] {
  return records.get(table) ?? [];
}

export function part(record: Dict, key: string): Dict {
  return (record[key] ?? {}) as Dict;
}

export function symbolOf(records: Records, id: unknown): string {
  return String(of(records, "currencies").find((one) => one["id"] === id)?.["symbol"]);
}

/** Rate of a document that carries none: known for euro only. */
export function plainEuro(records: Records, document: Dict, amount: bigint): bigint | null {
  return symbolOf(records, document["currencyId"]) === "EUR" ? amount : null;
}

/** Groups by the text of a key; every group in the order it was met. */
export function grouped<T>(all: readonly T[], keyOf: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return groups;
}

export function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n);
}

/** In units; null when one of them is not known. */
export function sumKnown(amounts: readonly (bigint | null)[]): number | null {
  return amounts.includes(null) ? null : units(sum(amounts as bigint[]));
}

export function daysBetween(from: unknown, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(String(from))) / 86_400_000);
}

export function ageOf(days: number): string {
  if (days <= 0) return "not_due";
  if (days <= 30) return "1-30";
  if (days <= 60) return "31-60";
  return days <= 90 ? "61-90" : "over_90";
}

export function least(texts: readonly unknown[]): string {
  return texts.map(String).toSorted((a, b) => (a < b ? -1 : 1))[0] ?? "";
}

export function most(texts: readonly unknown[]): string {
  return texts.map(String).toSorted((a, b) => (a < b ? 1 : -1))[0] ?? "";
}
