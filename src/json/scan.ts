import { MirrorError } from "../base/errors.ts";

/** Where the value of an object's own `id` key begins, the last one where it is repeated; 0 for nowhere. */
interface IdTrail {
  at: number;
}

/** Levels of nested containers that are accepted. Records of the service have far fewer. */
export const maxDepth = 200;

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
export const openArray = 0x5b;
export const closeArray = 0x5d;
export const openObject = 0x7b;
export const closeObject = 0x7d;
const backslash = 0x5c;
/** `[` and `{`, `]` and `}` differ in this bit only. */
const bracketBit = 0x20;
/** Of the structure only brackets are above it: most bytes outside strings need one comparison. */
const belowBrackets = 0x5a;

/** What numbers, `true`, `false` and `null` are made of. */
const scalar = classOf("+-.0123456789Eaeflnrstu");

function isSpace(code: number | undefined): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

export function skipSpace(bytes: Uint8Array, at: number): number {
  while (at < bytes.length && isSpace(bytes[at])) at++;
  return at;
}

/**
 * From the first byte of a value to the byte after its last, without parsing: follows strings and brackets only.
 * The slice may be invalid JSON, but then parsing it fails; the borders of valid JSON are always right. Throws
 * MirrorError `protocol`.
 */
export function skipValue(bytes: Uint8Array, at: number, trail?: IdTrail): number {
  const first = bytes[at] ?? 0;
  if ((first | bracketBit) === openObject) return skipContainer(bytes, at, trail);
  if (first === quote) return stringEnd(bytes, at + 1);
  return skipScalar(bytes, at);
}

/** The hot loop of the project: every byte of every answer passes it once. */
function skipContainer(bytes: Uint8Array, at: number, trail: IdTrail | undefined): number {
  const length = bytes.length;
  let depth = 0;
  while (at < length) {
    const code = bytes[at++] ?? 0;
    if (code === quote) {
      const start = at;
      at = stringEnd(bytes, at);
      if (depth === 1 && mayBeId(at - start) && trail) noteId(bytes, start, at, trail);
    } else if (code > belowBrackets) {
      const bracket = code | bracketBit;
      if (bracket === openObject) {
        if (++depth > maxDepth) throw malformedAt(bytes, at - 1, `at most ${maxDepth} levels`);
      } else if (bracket === closeObject && --depth === 0) {
        return at;
      }
    }
  }
  throw malformedAt(bytes, length, "the rest of a value");
}

/**
 * From inside a string to the byte after it. Four bytes a round are a fifth faster than one, as measured: with what
 * they may escape, 8 of them. Reading behind the end, here as elsewhere, would make all later reading slow.
 */
function stringEnd(bytes: Uint8Array, at: number): number {
  const safe = bytes.length - 8;
  while (at < safe) {
    const first = bytes[at++];
    if (first === quote) return at;
    if (first === backslash) at++;
    const second = bytes[at++];
    if (second === quote) return at;
    if (second === backslash) at++;
    const third = bytes[at++];
    if (third === quote) return at;
    if (third === backslash) at++;
    const fourth = bytes[at++];
    if (fourth === quote) return at;
    if (fourth === backslash) at++;
  }
  while (at < bytes.length) {
    const code = bytes[at++];
    if (code === quote) return at;
    if (code === backslash) at++;
  }
  throw malformedAt(bytes, bytes.length, "the rest of a string");
}

function skipScalar(bytes: Uint8Array, at: number): number {
  const start = at;
  while (scalar[bytes[at] ?? quote] === 1) at++;
  if (at === start) throw malformedAt(bytes, at, "a value");
  return at;
}

/** `id"` is 3 bytes long; with one letter escaped, `i\u0064"`, 8; with both, 13. */
function mayBeId(lengthBytes: number): boolean {
  return lengthBytes === 3 || lengthBytes === 8 || lengthBytes === 13;
}

const idKey = Buffer.from("id");

function noteId(bytes: Uint8Array, start: number, end: number, trail: IdTrail): void {
  if (!isKey(bytes, start - 1, end, idKey)) return;
  const next = skipSpace(bytes, end);
  if (bytes[next] === colon) trail.at = skipSpace(bytes, next + 1);
}

export function isKey(bytes: Uint8Array, start: number, end: number, key: Uint8Array): boolean {
  let at = start + 1;
  for (let index = 0; index < key.length; index++) {
    if (bytes[at] === backslash) return decodeString(bytes, start, end) === Buffer.from(key).toString();
    if (bytes[at++] !== key[index]) return false;
  }
  return at === end - 1;
}

export function keyAt(bytes: Uint8Array, start: number, end: number): string {
  const key = decodeString(bytes, start, end);
  if (key === undefined) throw malformedAt(bytes, start, "a well formed key");
  return key;
}

/** The string at `[start, end)`, quotes included; undefined when it is no valid JSON. */
export function decodeString(bytes: Uint8Array, start: number, end: number): string | undefined {
  try {
    return JSON.parse(Buffer.from(bytes.subarray(start, end)).toString()) as string;
  } catch {
    return undefined;
  }
}

/** Visits one member: its key with the quotes, and where its value begins. Returns where the value ends. */
type MemberVisit = (keyStart: number, keyEnd: number, valueAt: number) => number;

/** Visits the members of an object; returns the byte after its `}`. */
export function walkObject(bytes: Uint8Array, at: number, visit: MemberVisit): number {
  return walk(bytes, at, closeObject, (start) => {
    if (bytes[start] !== quote) throw malformedAt(bytes, start, "a key");
    const keyEnd = stringEnd(bytes, start + 1);
    const between = skipSpace(bytes, keyEnd);
    if (bytes[between] !== colon) throw malformedAt(bytes, between, '":"');
    return visit(start, keyEnd, skipSpace(bytes, between + 1));
  });
}

/** Visits the members of an object or the elements of an array; returns the byte after its bracket. */
export function walk(bytes: Uint8Array, at: number, close: number, visit: (at: number) => number): number {
  at = skipSpace(bytes, at + 1);
  if (bytes[at] === close) return at + 1;
  for (;;) {
    at = skipSpace(bytes, visit(at));
    if (bytes[at] === close) return at + 1;
    if (bytes[at] !== comma) throw malformedAt(bytes, at, `"," or "${String.fromCharCode(close)}"`);
    at = skipSpace(bytes, at + 1);
  }
}

/** Throws where more than space follows a document. */
export function assertNothingAfter(body: Uint8Array, end: number): void {
  const rest = skipSpace(body, end);
  if (rest < body.length) throw malformedAt(body, rest, "nothing after the document");
}

export function classOf(characters: string): Uint8Array {
  const members = new Uint8Array(256);
  for (const character of characters) members[character.charCodeAt(0)] = 1;
  return members;
}

/**
 * The answer is not valid JSON. Retryable: half an answer is the likeliest cause. The message shows the place and
 * one character, never more: answers may hold secrets (I9).
 */
export function malformed(offsetBytes: number, expected: string, found: string): MirrorError {
  return new MirrorError(
    "protocol",
    `the answer is not the JSON it should be: at byte ${offsetBytes} expected ${expected}, found ${found}`,
    { retryable: true, hint: "Try again; if it stays so, report the request id to the service." },
  );
}

export function malformedAt(bytes: Uint8Array, at: number, expected: string): MirrorError {
  return malformed(Math.min(at, bytes.length), expected, describeCharacter(bytes[at]));
}

/** `"x"` for a printable character, `0x1F` for another one, `the end` for undefined. */
export function describeCharacter(code: number | undefined): string {
  if (code === undefined) return "the end";
  if (code > 0x20 && code < 0x7f) return `"${String.fromCharCode(code)}"`;
  return `0x${code.toString(16).toUpperCase().padStart(2, "0")}`;
}
