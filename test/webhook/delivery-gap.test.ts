import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hourMs, minuteMs } from "../../src/base/clock.ts";
import { mayHaveLost, type RetryDelay } from "../../src/webhook/delivery-gap/delivery-gap.ts";
import type { Span } from "../../src/state/uptime-log.ts";

function span(fromMs: number, toMs: number): Span {
  return { startedMs: fromMs, seenMs: toMs };
}

describe("an event may have been lost", () => {
  // Fault: process | a daemon that died every minute for a month | the uptime log | whether events may be lost is answered at once
  test("is answered at once for a daemon that died every minute for a month", () => {
    const lives = Array.from({ length: 43_200 }, (_, i) => span(i * minuteMs, i * minuteMs + 30_000));
    expect(mayHaveLost(lives, 0, 720 * hourMs)).toBe(true);
  });

  // Fault: webhook | the receiver was away at each of the service's attempts, and awake between them | the uptime log | events may be lost; not where one attempt came half as late again
  test("by a pause at each of its five attempts, and not where one came half as late again", () => {
    const delaysS = [10, 100, 1_000, 10_000];
    const pausesAt = (changed: number) => {
      const delays = delaysS.map((seconds, at) => seconds * (at === changed ? 1.5 : 1) * 1_000);
      const attempts = delays.reduce((all, ms) => [...all, (all.at(-1) ?? 0) + ms], [0]);
      const edges = [-hourMs, ...attempts.flatMap((ms) => [ms - 1, ms + 1]), 100 * hourMs];
      return edges.flatMap((to, at) => (at % 2 === 1 ? [span(edges[at - 1] ?? 0, to)] : []));
    };
    const answers = [-1, 0, 1, 2, 3].map((at) => mayHaveLost(pausesAt(at), -hourMs, 100 * hourMs));
    expect(answers).toEqual([true, true, false, false, false]);
  });

  // Fault: clock | the last whole run was made by a clock that was a day ahead | the uptime log's question | events may be lost: what that run saw is unknown
  test("where a clock that was ahead dated the last whole run: nobody knows what it saw", () => {
    const spans = [span(0, 16 * hourMs)];
    expect(mayHaveLost(spans, 40 * hourMs, 16 * hourMs)).toBe(true);
    expect(mayHaveLost(spans, 16 * hourMs + 59_000, 16 * hourMs)).toBe(false);
  });
});

/** Tries every sender there can be, on whole numbers. */
function someSenderLoses(
  spans: readonly Span[],
  sinceMs: number,
  nowMs: number,
  delays: readonly RetryDelay[],
) {
  const inGap = (at: number) =>
    at <= nowMs && !spans.some(({ startedMs, seenMs }) => at > startedMs && at < seenMs);
  const loses = (at: number, left: readonly RetryDelay[]): boolean => {
    if (!inGap(at)) return false;
    const [delay, ...later] = left;
    if (!delay) return true;
    return range(at + delay[0], Math.min(nowMs, at + delay[1])).some((next) => loses(next, later));
  };
  return range(sinceMs, nowMs).some((at) => loses(at, delays));
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);
}

test("says exactly what trying every sender says", () => {
  const delays = [[1, 2] as const, [2, 4] as const, [6, 9] as const];
  const arbitrarySpans = fc
    .uniqueArray(fc.integer({ min: 0, max: 40 }), { minLength: 0, maxLength: 10 })
    .map((points) => points.toSorted((a, b) => a - b))
    .map((points) => points.flatMap((to, i) => (i % 2 === 1 ? [span(points[i - 1] ?? 0, to)] : [])));
  const answers = { yes: 0, no: 0 };
  fc.assert(
    fc.property(arbitrarySpans, fc.integer({ min: 0, max: 10 }), (spans, sinceMs) => {
      // Whoever begins to receive at the first moment, or was last seen at the last one, receives then.
      fc.pre(!spans.some(({ startedMs, seenMs }) => startedMs === sinceMs || seenMs === 40));
      const expected = someSenderLoses(spans, sinceMs, 40, delays);
      expect(mayHaveLost(spans, sinceMs, 40, delays)).toBe(expected);
      answers[expected ? "yes" : "no"] += 1;
    }),
    { numRuns: 250 },
  );
  expect(Math.min(answers.yes, answers.no)).toBeGreaterThan(3);
});
