import { skipSpace, skipValue } from "./scan.ts";
import { integerAt } from "./slices.ts";

/**
 * The record's own `id` as it is written; null when it is missing or no integer. Repeated, the last one
 * counts, as in JSON.parse. A list's slices carry theirs already: this is for a record on its own.
 */
export function idOf(slice: Buffer): string | null {
  const trail = { at: 0 };
  const end = skipValue(slice, skipSpace(slice, 0), trail);
  return integerAt(slice, trail.at, end);
}
