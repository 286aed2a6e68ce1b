import type { JsonValue } from "./literal.ts";

/** The way back from parseLossless: a number literal is written as it was read. */
export function stringifyLossless(value: JsonValue): string {
  return JSON.stringify(value);
}
