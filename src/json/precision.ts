import { isExact } from "./literal.ts";
import { classOf } from "./scan.ts";

/** The shortest run of digits and points that matters has 16 characters: one of them has such an index. */
const stride = 16;
const half = stride / 2;

/** With what may follow a number: hexadecimal ids contain what looks like an exponent. */
const longExponent = /[0-9][eE][-+]?[0-9]{3,}(?:[\s,\]}]|$)/;

const digitOrPoint = classOf("0123456789.");
const numberCharacter = classOf("0123456789.eE+-");
const space = classOf(" \t\r\n");
/** What may stand before a number, besides the start of the text. */
const beforeNumber = classOf(":,[ \t\r\n");

/**
 * May JSON.parse change this text? It changes numbers that a double does not hold; 15 significant digits and
 * exponents of two digits are safe, so only longer ones are checked. And V8 may confuse a key that is written with
 * escapes with another key (nodejs/node#63785). True may be wrong (inside a string, say), false never is.
 */
export function mayLosePrecision(text: string): boolean {
  return hasLossyDigits(text) || longExponent.test(text) || hasEscapedKey(text);
}

function hasLossyDigits(text: string): boolean {
  for (let at = stride - 1; at < text.length; at += stride) {
    if (digitOrPoint[text.charCodeAt(at)] !== 1 || !maySpan(text, at)) continue;
    const end = runEnd(text, at, digitOrPoint);
    const isLong = end - runStart(text, at, digitOrPoint) >= stride;
    if (isLong && isLossyLiteral(text, at)) return true;
    // No other run begins before `end`: a long one is checked once, not at each of its samples.
    at = end;
  }
  return false;
}

/** A cheap no for most: 16 in a row around `at` reach 8 to one side of it at least. */
function maySpan(text: string, at: number): boolean {
  return digitOrPoint[text.charCodeAt(at - half)] === 1 || digitOrPoint[text.charCodeAt(at + half)] === 1;
}

function isLossyLiteral(text: string, at: number): boolean {
  const start = runStart(text, at, numberCharacter);
  if (start > 0 && beforeNumber[text.charCodeAt(start - 1)] !== 1) return false;
  return !isExact(text.slice(start, runEnd(text, at, numberCharacter)));
}

function hasEscapedKey(text: string): boolean {
  for (let at = text.indexOf("\\"); at !== -1; at = text.indexOf("\\", at)) {
    while (at < text.length && text.charCodeAt(at) !== 0x22) at += text.charCodeAt(at) === 0x5c ? 2 : 1;
    at = runEnd(text, at + 1, space);
    if (text.charCodeAt(at) === 0x3a) return true;
  }
  return false;
}

function runStart(text: string, at: number, members: Uint8Array): number {
  while (at > 0 && members[text.charCodeAt(at - 1)] === 1) at--;
  return at;
}

function runEnd(text: string, at: number, members: Uint8Array): number {
  while (at < text.length && members[text.charCodeAt(at)] === 1) at++;
  return at;
}
