/**
 * Exact arithmetic on the numbers of JSON: decimals become whole millionths (BigInt), money becomes
 * whole cents. Rounding is half away from zero, as in accounting.
 */
const scale = 1_000_000n;

/** 12.5 -> 12500000n; digits beyond the sixth are rounded. */
export const decimal = (value: number) => BigInt(Math.round(value * Number(scale)));

export const toNumber = (value: bigint) => Number(value) / Number(scale);

/** a / b, rounded half away from zero. */
export function divide(a: bigint, b: bigint): bigint {
  if (b < 0n) return divide(-a, -b);
  const half = b / 2n;
  return a >= 0n ? (a + half) / b : -((-a + half) / b);
}

/** price x quantity, both in millionths, in cents. */
export function productCents(price: bigint, quantity: bigint): bigint {
  return divide(price * quantity * 100n, scale * scale);
}

export const toCents = (value: bigint) => divide(value * 100n, scale);

/** `percent` (millionths) of an amount in cents. */
export const percentOf = (cents: bigint, percent: bigint) => divide(cents * percent, scale * 100n);

/** An amount with VAT, rounded to cents; `rate` in percent. */
export const withVatCents = (cents: bigint, rate: number) => cents + percentOf(cents, decimal(rate));

/** The amount in another currency; rates are units per euro. */
export function convertCents(cents: bigint, fromRate: number, toRate: number): bigint {
  return fromRate === toRate ? cents : divide(cents * decimal(toRate), decimal(fromRate));
}

export const centsToNumber = (cents: bigint) => Number(cents) / 100;
