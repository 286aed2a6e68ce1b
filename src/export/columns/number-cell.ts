import { decimalText } from "../../json/literal.ts";

/**
 * Real numbers as text. SQLite writes a REAL so that it reads back the same: `100.0` for a whole number, an
 * exponent for very large and very small ones, 17 digits where 16 would do. The service sends the shortest
 * text. So `.0` is cut off, and the rare long ones or those with an exponent are parsed and printed again by
 * JavaScript, which prints the shortest text.
 */
const maxPlainLength = 16;

/** The text of a REAL that must be printed again; null if its bytes are right, up to `endOfReal`. */
export function reprintedReal(bytes: Uint8Array, start: number, end: number): string | null {
  if (end - start <= maxPlainLength && !hasExponent(bytes, start, end)) return null;
  const text = asciiText(bytes, start, end);
  // An integer among the numbers of an unknown field has all of its digits.
  return /^-?\d+$/.test(text) ? null : decimalText(Number(text));
}

/** The end of a REAL without the `.0` of a whole number. */
export function endOfReal(bytes: Uint8Array, end: number): number {
  return bytes[end - 1] === 0x30 && bytes[end - 2] === 0x2e ? end - 2 : end;
}

function hasExponent(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (bytes[i] === 0x65) return true;
  return false;
}

/** ASCII bytes as text; faster than a decoder for a few bytes. */
export function asciiText(bytes: Uint8Array, start: number, end: number): string {
  let text = "";
  for (let i = start; i < end; i++) text += String.fromCharCode(bytes[i] ?? 0);
  return text;
}

/** A REAL's cell as the service writes the number. */
export function realText(bytes: Uint8Array, start: number, end: number): string {
  return reprintedReal(bytes, start, end) ?? asciiText(bytes, start, endOfReal(bytes, end));
}
