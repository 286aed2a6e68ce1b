import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Rules } from "../../src/rate-limit/state.ts";
import { limiterKinds, simulate } from "../support/rate-limit/simulated-budget.ts";
import type { Outcome, Scenario } from "../support/rate-limit/simulated-budget.ts";

const kinds = fc.constantFrom(...limiterKinds);
const seeds = fc.integer({ min: 0, max: 1_000_000 });
const latencies = fc.constantFrom<[number, number]>([5, 3_000], [30, 300], [1, 5], [1_000, 3_000], [5, 20]);

const usual = { latencyMs: [30, 300], concurrency: 6, durationMs: 600_000 } as const;

/** Demand that comes and goes, so that windows end at every degree of use. */
const demands = fc.option(
  fc.record({
    periodMs: fc.integer({ min: 1_000, max: 90_000 }),
    share: fc.double({ min: 0.3, max: 1, noNaN: true }),
  }),
);

function demandOf(shape: { periodMs: number; share: number } | null): Pick<Scenario, "demand"> {
  return shape ? { demand: (atMs) => (atMs % shape.periodMs) / shape.periodMs < shape.share } : {};
}

/** Windows that opened and ended while there was demand. */
function fullWindows(outcome: Outcome) {
  return outcome.windows.filter((window) => window.endsAt < outcome.endedAt);
}

describe("I8: alone on the company", () => {
  // Fault: limiter | latency, reordered and lost answers, requests counted after they were given up, any demand | simulated limiters of every kind | never a 429 while alone (I8)
  test("never a 429, whatever the limiter, latency, order, loss and demand", () => {
    const scenarios = fc.record({
      seed: seeds,
      kind: kinds,
      latencyMs: latencies,
      concurrency: fc.constantFrom(1, 2, 6, 20, 150),
      limit: fc.constantFrom(1, 2, 5, 20, 120),
      loss: fc.constantFrom(0, 0, 0.02, 0.3),
      givenUp: fc.constantFrom(0, 0, 0.02, 0.3),
      silent: fc.constantFrom(0, 0, 0.05, 1),
    });
    fc.assert(
      fc.property(scenarios, demands, (scenario, demand) => {
        const outcome = simulate({ ...scenario, ...demandOf(demand), durationMs: 300_000 });
        expect(outcome.sentAt.length).toBeGreaterThan(0);
        expect(outcome.refusedAt).toEqual([]);
      }),
      { numRuns: 600 },
    );
  });

  test("nobody else is ever seen, so every permit of every full window is used, and the next opens soon", () => {
    fc.assert(
      fc.property(seeds, kinds, latencies, (seed, kind, latencyMs) => {
        const slow = simulate({ seed, kind, ...usual, latencyMs });
        expect(slow.state.others).toEqual({ perWindow: 0, until: null });
        const outcome = simulate({ seed, kind, ...usual });
        for (const window of fullWindows(outcome)) expect(window.own / 120).toBeGreaterThanOrEqual(0.98);
        expect(outcome.sentAt.length / 10).toBeGreaterThan(118);
      }),
      { numRuns: 100 },
    );
  });

  // Fault: limiter | answers are lost | simulated limiters | only the lost permits are missing from the window
  test("with lost answers only what was lost is missing", () => {
    fc.assert(
      fc.property(seeds, kinds, (seed, kind) => {
        const outcome = simulate({ seed, kind, ...usual, loss: 0.02 });
        for (const window of fullWindows(outcome)) expect(window.own / 120).toBeGreaterThanOrEqual(0.9);
      }),
      { numRuns: 100 },
    );
  });

  test("a start without a state into a window that own requests opened is never refused while it has permits left", () => {
    fc.assert(
      fc.property(seeds, kinds, fc.integer({ min: 0, max: 119 }), (seed, kind, usedBefore) => {
        const outcome = simulate({ seed, kind, ...usual, durationMs: 180_000, usedBefore });
        expect(outcome.refusedAt).toEqual([]);
        expect(outcome.sentAt.length).toBeGreaterThanOrEqual(200);
      }),
      { numRuns: 100 },
    );
  });
});

/** Answers 429 in twenty simulations with these rules. */
function refusalsUnder(rules: Partial<Rules>): number {
  const kind = { ends: "exact", reports: "at_hit" } as const;
  return Array.from({ length: 20 }, (_, seed) =>
    simulate({ seed, kind, ...usual, durationMs: 300_000, rules }),
  ).reduce((sum, outcome) => sum + outcome.refusedAt.length, 0);
}

describe("the simulation can fail: these tests mean something", () => {
  // Fault: limiter | windows are taken for shorter than they are | the rules of the rate limiter under the simulation | the simulation shows refusals: it can fail
  test("a rate limiter that takes windows for shorter than they are is refused", () => {
    expect(refusalsUnder({ epsilonMs: -2_000 })).toBeGreaterThan(0);
    expect(refusalsUnder({ windowMs: 50_000 })).toBeGreaterThan(0);
    expect(refusalsUnder({})).toBe(0);
  });
});
