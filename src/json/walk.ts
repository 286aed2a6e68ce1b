/** Going through one level of an object or array; what the values hold is the visitor's. */
import { malformedAt } from "./malformed.ts";
import { skipSpace, skipString } from "./scan.ts";

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const closeArray = 0x5d;
const closeObject = 0x7d;

/** Told of one member: its key with the quotes, and where its value begins; answers where that ends. */
export type MemberVisit = (keyStart: number, keyEnd: number, valueAt: number) => number;

/** Goes through an object's own members, from its `{` to the byte after its `}`. */
export function walkObject(bytes: Uint8Array, at: number, visit: MemberVisit): number {
  return walk(bytes, at, closeObject, (start) => {
    if (bytes[start] !== quote) throw malformedAt(bytes, start, "a key");
    const keyEnd = skipString(bytes, start);
    const between = skipSpace(bytes, keyEnd);
    if (bytes[between] !== colon) throw malformedAt(bytes, between, '":"');
    return visit(start, keyEnd, skipSpace(bytes, between + 1));
  });
}

/** Goes through an array's elements, from its `[` to the byte after its `]`. */
export function walkArray(bytes: Uint8Array, at: number, visit: (valueAt: number) => number): number {
  return walk(bytes, at, closeArray, visit);
}

function walk(bytes: Uint8Array, at: number, close: number, visit: (at: number) => number): number {
  at = skipSpace(bytes, at + 1);
  if (bytes[at] === close) return at + 1;
  for (;;) {
    at = skipSpace(bytes, visit(at));
    if (bytes[at] === close) return at + 1;
    if (bytes[at] !== comma) throw malformedAt(bytes, at, `"," or "${String.fromCharCode(close)}"`);
    at = skipSpace(bytes, at + 1);
  }
}
