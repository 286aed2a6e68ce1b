import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { limiterKinds, simulate } from "../support/rate-limit/simulated-budget.ts";
import { openedLedger } from "../support/rate-limit/rate-limit.ts";

const awaited = { eventShare: 0.1 };
/** The earliest end of a window that was opened at 0 is a second and a little before 60 s. */
const nearTheEnd = 57_000;

describe("where events are expected", () => {
  test("the other lanes learn when the share is released, and near the window's end it is", () => {
    const ledger = openedLedger(awaited);
    for (let i = 0; i < 107; i++) ledger.send(1_000, "scrub");
    const nextAt = ledger.nextAt(2_000, "scrub");
    expect(nextAt).toBeGreaterThan(50_000);
    expect(nextAt).toBeLessThan(nearTheEnd);
    expect(ledger.room(nextAt, "scrub")).toBe(12);
  });

  test("I8: alone on the company, with events in between, zero 429, and windows are still used whole", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000_000 }), fc.constantFrom(...limiterKinds), (seed, kind) => {
        const pace = { latencyMs: [30, 300] as const, concurrency: 6, durationMs: 600_000 };
        const outcome = simulate({ seed, kind, ...pace, rules: awaited });
        expect(outcome.refusedAt).toEqual([]);
        const whole = outcome.windows.slice(2).filter(({ endsAt }) => endsAt < outcome.endedAt);
        for (const { own } of whole) expect(own).toBeGreaterThanOrEqual(110);
      }),
      { numRuns: 20 },
    );
  });
});
