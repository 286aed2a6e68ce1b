import { isUtf8 } from "node:buffer";
import type { JsonValue } from "./literal.ts";
import { describeCharacter, malformed } from "./malformed.ts";
import { parsePrecisely } from "./precise-parser.ts";
import { mayLosePrecision } from "./precision.ts";
import { maxDepth } from "./scan.ts";

/**
 * JSON.parse without loss of digits. The native parser does the work; a text with a number it may change, or one
 * that it refuses, goes through the precise parser, which also knows where the fault is.
 *
 * @param offsetBytes where the slice stands in its answer; the error counts from there
 * @throws MirrorError `protocol`
 */
export function parseLossless(slice: Buffer | string, offsetBytes = 0): JsonValue {
  const text = slice.toString();
  if (!mayLosePrecision(text)) {
    const value = parseNatively(text);
    if (value !== undefined && !isTooDeep(text, value)) return value;
  }
  return parsePrecisely(text, maxDepth, offsetBytes);
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
    for (; at !== -1 && brackets <= maxDepth; brackets++) at = text.indexOf(bracket, at + 1);
  }
  return brackets > maxDepth && isDeeper(value, maxDepth);
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
  throw malformed(at, "UTF-8", describeCharacter(body[at]));
}

/** The reverse of parseLossless: a number literal is written as it was read. */
export function stringifyLossless(value: JsonValue): string {
  return JSON.stringify(value);
}
