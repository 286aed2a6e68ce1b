import { isUtf8 } from "node:buffer";
import { assert } from "../base/errors.ts";
import type { JsonValue } from "./literal.ts";
import { describeCharacter, malformed } from "./malformed.ts";
import { parsePrecisely, Unexpected } from "./precise-parser.ts";
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
  const text = typeof slice === "string" ? slice : slice.toString();
  if (!mayLosePrecision(text)) {
    const value = parseNatively(text);
    if (value !== undefined && !isTooDeep(text, value)) return value;
  }
  try {
    return parsePrecisely(text, maxDepth);
  } catch (error) {
    assert(error instanceof Unexpected, "the precise parser fails only on its input");
    const before = Buffer.byteLength(text.slice(0, error.at));
    throw malformed(offsetBytes + before, error.expected, describeCharacter(text.codePointAt(error.at)));
  }
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
  let at = 0;
  while (at < body.length && body[at] === repaired[at]) at++;
  throw malformed(at, "UTF-8", describeCharacter(body[at]));
}

/** The reverse of parseLossless: a number literal is written as it was read. */
export function stringifyLossless(value: JsonValue): string {
  return JSON.stringify(value);
}
