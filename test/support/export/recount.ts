/**
 * Computes what the views must contain from the service's records: loops over JSON in whole cents, no SQL, no
 * floats.
 */
type Value = string | number | boolean | null;
/** A record's own fields; `part` and `parts` give nested ones. */
export type Dict = Readonly<Record<string, Value>>;
export type Records = ReadonlyMap<string, readonly Dict[]>;
export type Row = Record<string, string | number | null>;

/** The digits of a JSON number as a whole number of 10^-digits. */
export function scaled(value: Value | undefined, digits: number): bigint {
  const [, sign = "", whole = "", fraction = ""] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(String(value)) ?? [];
  if (whole === "" || fraction.length > digits)
    throw new Error(`${String(value)} has not ${digits} decimals`);
  return BigInt(sign + whole + fraction.padEnd(digits, "0"));
}

export function cents(value: Value | undefined): bigint {
  return scaled(value, 2);
}

/** Half away from zero. */
export function divided(a: bigint, b: bigint): bigint {
  const [x, y] = [a < 0n ? -a : a, b < 0n ? -b : b];
  const rounded = (2n * x + y) / (2n * y);
  return a < 0n === b < 0n ? rounded : -rounded;
}

export function euro(amount: bigint, rate: Value | undefined): bigint {
  return divided(amount * 1_000_000n, scaled(rate, 6));
}

export function units(amount: bigint): number {
  return Number(amount) / 100;
}

export function of(records: Records, table: string): readonly Dict[] {
  return records.get(table) ?? [];
}

export function part(record: Dict, key: string): Dict {
  return (record[key] ?? {}) as unknown as Dict;
}

export function parts(record: Dict, key: string): readonly Dict[] {
  return record[key] as unknown as Dict[];
}

export function monthOf(date: Value | undefined): string {
  return String(date).slice(0, 7);
}

export function symbolOf(records: Records, id: Value | undefined): string {
  return String(of(records, "currencies").find((one) => one["id"] === id)?.["symbol"]);
}

export function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n);
}

/** A sum in units; null if one amount is null. */
export function sumKnown(amounts: readonly (bigint | null)[]): number | null {
  return amounts.includes(null) ? null : units(sum(amounts as bigint[]));
}

export function daysBetween(from: Value | undefined, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(String(from))) / 86_400_000);
}

export function ageOf(days: number): string {
  if (days <= 0) return "not due";
  if (days <= 30) return "1 to 30";
  if (days <= 60) return "31 to 60";
  return days <= 90 ? "61 to 90" : "over 90";
}

export function least(texts: readonly (Value | undefined)[]): string {
  return texts.map(String).toSorted((a, b) => (a < b ? -1 : 1))[0] ?? "";
}

export function most(texts: readonly (Value | undefined)[]): string {
  return texts.map(String).toSorted((a, b) => (a < b ? 1 : -1))[0] ?? "";
}
