import { isoTime } from "../../../base/clock.ts";
import { MirrorError } from "../../../base/errors.ts";
import { parseDurationMs } from "../../../base/units.ts";

/**
 * Reads a moment as people write it: how long ago, or a date or time, UTC without a zone. Gives it as ISO text.
 * @throws MirrorError `usage`
 */
export function readSince(text: string, nowMs: number): string {
  const agoMs = parseDurationMs(text);
  if (agoMs !== null) return isoTime(Math.max(0, nowMs - agoMs));
  const match = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,3})?)?)?(Z|[+-]\d\d:\d\d)?$/.exec(text.trim());
  const zoned = match && match[1] !== undefined && match[4] === undefined ? `${text.trim()}Z` : text.trim();
  const atMs = match ? Date.parse(zoned.replace(" ", "T")) : Number.NaN;
  if (!Number.isNaN(atMs)) return isoTime(atMs);
  throw new MirrorError(
    "usage",
    `--since must be a duration such as 2h or 3d, or a time such as 2026-11-21T08:00Z (it is "${text}")`,
  );
}
