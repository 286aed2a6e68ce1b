import { isUtf8 } from "node:buffer";
import { isExact, numberLiteral, type JsonValue } from "./literal.ts";
import * as scan from "./scan.ts";

/**
 * JSON.parse without loss of digits, of a text or of the bytes from `start` to `end`. The native parser does the work; a
 * text with a number it may change, or one that it refuses, is parsed again value by value, which also says where the
 * fault is.
 *
 * @throws MirrorError `protocol`
 */
export function parseLossless(content: Buffer | string, start = 0, end = content.length): JsonValue {
  const text = typeof content === "string" ? content : content.toString("utf8", start, end);
  if (!mayLosePrecision(text)) {
    const value = parseNatively(text);
    if (value !== undefined && !isTooDeep(text, value)) return value;
  }
  const bytes = typeof content === "string" ? Buffer.from(content) : content.subarray(0, end);
  return parsePrecisely(bytes, start);
}

/** As RFC 8259 defines it, with exact numbers; slow. */
function parsePrecisely(bytes: Buffer, start: number): JsonValue {
  let value: JsonValue = null;
  const end = readValue(bytes, scan.skipSpace(bytes, start), scan.maxDepth, (read) => (value = read));
  scan.assertNothingAfter(bytes, end);
  return value;
}

/** Gives the value to `take`, and returns where it ends. A container has `depth` levels at most. */
function readValue(bytes: Buffer, at: number, depth: number, take: (value: JsonValue) => void): number {
  const first = bytes[at];
  if (depth === 0 && (first === scan.openArray || first === scan.openObject))
    throw scan.malformedAt(bytes, at, `at most ${scan.maxDepth} levels`);
  if (first === scan.openArray) {
    const array: JsonValue[] = [];
    take(array);
    return scan.walk(bytes, at, scan.closeArray, (from) =>
      readValue(bytes, from, depth - 1, (one) => array.push(one)),
    );
  }
  if (first === scan.openObject) {
    const members: [string, JsonValue][] = [];
    const end = scan.walkObject(bytes, at, (keyStart, keyEnd, from) => {
      const key = scan.keyAt(bytes, keyStart, keyEnd);
      return readValue(bytes, from, depth - 1, (one) => members.push([key, one]));
    });
    // Also makes `__proto__` an ordinary key.
    take(Object.fromEntries(members));
    return end;
  }
  const end = scan.skipValue(bytes, at);
  take(scalarAt(bytes, at, end));
  return end;
}

const words: ReadonlyMap<string, JsonValue> = new Map([
  ["true", true],
  ["false", false],
  ["null", null],
]);

function scalarAt(bytes: Buffer, at: number, end: number): JsonValue {
  const text = bytes.toString("utf8", at, end);
  const value = text.startsWith('"') ? scan.decodeString(bytes, at, end) : words.get(text);
  if (value !== undefined) return value;
  if (/^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$/.test(text)) return numberLiteral(text);
  throw scan.malformedAt(bytes, at, text.startsWith('"') ? "a well-formed string" : "a value");
}

function parseNatively(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** Few records have so many brackets that their nesting must be checked. */
function isTooDeep(text: string, value: JsonValue): boolean {
  let brackets = 0;
  for (const bracket of "{[") {
    let at = text.indexOf(bracket);
    for (; at !== -1 && brackets <= scan.maxDepth; brackets++) at = text.indexOf(bracket, at + 1);
  }
  return brackets > scan.maxDepth && isDeeper(value, scan.maxDepth);
}

/** Its own recursion ends at `depth`, so it cannot run out of stack. */
function isDeeper(value: JsonValue, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (depth === 0) return true;
  return Object.values(value).some((member) => isDeeper(member as JsonValue, depth - 1));
}

/** Throws MirrorError `protocol` for broken UTF-8, which would be stored as U+FFFD for good. */
export function assertUtf8(body: Buffer): void {
  if (isUtf8(body)) return;
  const repaired = Buffer.from(body.toString());
  const at = repaired.findIndex((byte, index) => byte !== body[index]);
  throw scan.malformed(at, "UTF-8", scan.describeCharacter(body[at]));
}

/** What precedes a number that a double may not hold, and its beginning: 16 digits, or an exponent of three. */
const longNumber = /(?:^|[:,[ \t\r\n])(-?[0-9](?:[0-9.]{15}|[0-9.]{0,14}[eE][-+]?[0-9]{3}))/g;

const numberCharacter = scan.classOf("0123456789.eE+-");
const space = scan.classOf(" \t\r\n");

/**
 * May JSON.parse change this text? It changes numbers that a double does not hold; 15 significant digits and
 * exponents of two digits are safe, so only longer ones are checked. And V8 may confuse a key that is written with
 * escapes with another key (nodejs/node#63785). True may be wrong (inside a string, say), false never is.
 */
export function mayLosePrecision(text: string): boolean {
  return hasLossyNumber(text) || hasEscapedKey(text);
}

function hasLossyNumber(text: string): boolean {
  // Nearly no text has one, and `matchAll` copies the expression.
  if (text.search(longNumber) === -1) return false;
  for (const { index, 0: found, 1: beginning = "" } of text.matchAll(longNumber)) {
    const at = index + found.length - beginning.length;
    if (!isExact(text.slice(at, runEnd(text, at, numberCharacter)))) return true;
  }
  return false;
}

function hasEscapedKey(text: string): boolean {
  for (let at = text.indexOf("\\"); at !== -1; at = text.indexOf("\\", at)) {
    while (at < text.length && text.charCodeAt(at) !== 0x22) at += text.charCodeAt(at) === 0x5c ? 2 : 1;
    at = runEnd(text, at + 1, space);
    if (text.charCodeAt(at) === 0x3a) return true;
  }
  return false;
}

function runEnd(text: string, at: number, members: Uint8Array): number {
  while (at < text.length && members[text.charCodeAt(at)] === 1) at++;
  return at;
}
