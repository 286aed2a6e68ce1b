import { decimalText } from "../../json/literal.ts";

/**
 * SQLite writes a REAL so that reading it gives the same number: `100.0` for a whole one, an exponent for a
 * very large or small one, and 17 digits where 16 might do. The service's number is the shortest text that
 * reads the same: the point's zero goes, and what is long or has an exponent, which is rare, is read and
 * written once more by JavaScript, whose text of a number is the shortest.
 */
const longestPlain = 16;

/** The text of a real whose bytes are not to be taken as they are; null: they are, less `plainEnd`. */
export function rewrittenReal(bytes: Uint8Array, start: number, end: number): string | null {
  if (end - start <= longestPlain && !hasExponent(bytes, start, end)) return null;
  return decimalText(Number(asciiText(bytes, start, end)));
}

/** Without the zero of a whole number's point. */
export function plainEnd(bytes: Uint8Array, end: number): number {
  return bytes[end - 1] === 0x30 && bytes[end - 2] === 0x2e ? end - 2 : end;
}

function hasExponent(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (bytes[i] === 0x65) return true;
  return false;
}

export function asciiText(bytes: Uint8Array, start: number, end: number): string {
  let text = "";
  for (let i = start; i < end; i++) text += String.fromCharCode(bytes[i] ?? 0);
  return text;
}

/** A real's cell as the service's number. */
export function realText(bytes: Uint8Array, start: number, end: number): string {
  return rewrittenReal(bytes, start, end) ?? asciiText(bytes, start, plainEnd(bytes, end));
}
