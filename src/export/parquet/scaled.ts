/**
 * A decimal's text to the whole number that a DECIMAL column stores: digits only, no arithmetic on floats.
 * `-12.5` at scale 6 -> -12500000n. Null where it has more places, or more digits in all, than the type.
 */
export function scaledOf(text: string, precision: number, scale: number): bigint | null {
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text);
  if (!match) return null;
  const [, sign, whole = "", fraction = ""] = match;
  if (fraction.length > scale) return null;
  const digits = (whole + fraction.padEnd(scale, "0")).replace(/^0+(?=\d)/, "");
  if (digits.length > precision) return null;
  return BigInt(`${sign}${digits}`);
}
