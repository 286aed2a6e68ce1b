import { elapsedSince } from "../../base/clock.ts";
import type { Span } from "../../state/uptime-log.ts";

/** A time without a receiver, both ends included; epoch milliseconds. */
type Gap = readonly [fromMs: number, toMs: number];

/** How long the service waits before its next attempt: at least and at most, milliseconds. */
export type RetryDelay = readonly [leastMs: number, mostMs: number];

/**
 * About 10, 100, 1,000 and 10,000 s between five attempts (interface document), a quarter less or more; in addition
 * the 10 s that an attempt may take, and 5 s for the service's own queue.
 */
const retryDelays: readonly RetryDelay[] = [1e4, 1e5, 1e6, 1e7].map((ms) => [ms * 0.75, ms * 1.25 + 15_000]);

/**
 * Pure: may an event be lost, because all its attempts fell into gaps? Follows the moments at which each attempt can
 * have failed, from the first to the last; an event with attempts still to come is not lost.
 *
 * @param spans when deliveries were received; in any order
 * @param sinceMs when the last run began that read everything: it saw what happened before
 */
export function mayHaveLost(spans: readonly Span[], sinceMs: number, nowMs: number, delays = retryDelays) {
  // A clock that was ahead dated the last run: what it saw is unknown.
  if (elapsedSince(sinceMs, nowMs) === Infinity) return true;
  const gaps = gapsBetween(spans, sinceMs, nowMs);
  let failed: readonly Gap[] = gaps;
  for (const [leastMs, mostMs] of delays) {
    const tried = failed.map(([from, to]): Gap => [from + leastMs, to + mostMs]);
    failed = overlaps(merged(tried), gaps);
  }
  return failed.length > 0;
}

function gapsBetween(spans: readonly Span[], sinceMs: number, nowMs: number): Gap[] {
  const gaps: Gap[] = [];
  let fromMs = sinceMs;
  for (const { startedMs, seenMs } of spans.toSorted((a, b) => a.startedMs - b.startedMs)) {
    if (startedMs > fromMs) gaps.push([fromMs, Math.min(startedMs, nowMs)]);
    fromMs = Math.max(fromMs, seenMs);
    if (fromMs >= nowMs) return gaps;
  }
  if (fromMs < nowMs) gaps.push([fromMs, nowMs]);
  return gaps;
}

/** Common parts of two lists, each in order and without overlaps. Linear: a daemon that often died leaves many. */
function overlaps(some: readonly Gap[], others: readonly Gap[]): Gap[] {
  const found: Gap[] = [];
  for (let i = 0, j = 0; i < some.length && j < others.length;) {
    const [one, other] = [some[i], others[j]];
    if (!one || !other) break;
    const from = Math.max(one[0], other[0]);
    const to = Math.min(one[1], other[1]);
    if (from <= to) found.push([from, to]);
    if (one[1] < other[1]) i++;
    else j++;
  }
  return found;
}

/** Joins gaps that overlap, so that many restarts do not multiply. */
function merged(gaps: readonly Gap[]): Gap[] {
  const joined: Gap[] = [];
  for (const [from, to] of gaps.toSorted((a, b) => a[0] - b[0])) {
    const last = joined.at(-1);
    if (last && from <= last[1]) joined[joined.length - 1] = [last[0], Math.max(last[1], to)];
    else joined.push([from, to]);
  }
  return joined;
}
