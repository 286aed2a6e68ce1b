/**
 * JSON.parse without its one loss. The native parser does the work; a text with a number it would change,
 * or one that it refuses, goes through the exact parser, which also knows where a fault is.
 */
import { isUtf8 } from "node:buffer";
import { assert } from "../base/errors.ts";
import { parsePrecisely, Unexpected } from "./precise-parser.ts";
import { describeCharacter, malformed } from "./malformed.ts";
import type { JsonValue } from "./literal.ts";
import { maxDepth } from "./scan.ts";
import { mayLosePrecision } from "./precision.ts";

export type { JsonValue } from "./literal.ts";

/** `offsetBytes` is where the slice stands in its answer; errors count from there. */
export function parseLossless(slice: Buffer | string, offsetBytes = 0): JsonValue {
  const text = typeof slice === "string" ? slice : slice.toString();
  if (!mayLosePrecision(text)) {
    const value = parseNatively(text);
    if (value !== undefined && !isTooDeep(text, value)) return value;
  }
  try {
    return parsePrecisely(text, maxDepth);
  } catch (error) {
    assert(error instanceof Unexpected, "the exact parser fails only on its input");
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

/** Hardly any record has so many brackets that their nesting needs a look. */
function isTooDeep(text: string, value: JsonValue): boolean {
  return openings(text, "{") + openings(text, "[") > maxDepth && isDeeper(value, maxDepth);
}

/** Counted no further than it matters. */
function openings(text: string, bracket: string): number {
  let count = 0;
  let at = text.indexOf(bracket);
  while (at !== -1 && count <= maxDepth) {
    count++;
    at = text.indexOf(bracket, at + 1);
  }
  return count;
}

/** Ends at `depth` levels itself, so it cannot run out of stack on what it is to find. */
function isDeeper(value: JsonValue, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (depth === 0) return true;
  return Object.values(value).some((member) => isDeeper(member as JsonValue, depth - 1));
}

/** Broken characters would be stored as U+FFFD and never be seen again: such an answer is refused. */
export function assertUtf8(body: Buffer): void {
  if (isUtf8(body)) return;
  const repaired = Buffer.from(body.toString());
  let at = 0;
  while (at < body.length && body[at] === repaired[at]) at++;
  throw malformed(at, "UTF-8", describeCharacter(body[at]));
}
