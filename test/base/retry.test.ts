import * as fc from "fast-check";
import { expect, test } from "vitest";
import { seededRandom } from "../support/seeded-random.ts";
import { backoffMs } from "../../src/base/retry.ts";

const backoff = { baseMs: 500, maxMs: 30_000 };

test("the pause doubles with each failed attempt, up to the longest", () => {
  const pauses = [1, 2, 3, 6, 7, 8, 60, 5_000].map((attempt) => backoffMs(attempt, backoff));
  expect(pauses).toEqual([500, 1_000, 2_000, 16_000, 30_000, 30_000, 30_000, 30_000]);
  expect(backoffMs(0, backoff)).toBe(500);
});

test("half of the pause is random where a source of random numbers is given", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 60 }), fc.integer(), (attempt, seed) => {
      const pauseMs = backoffMs(attempt, { ...backoff, random: seededRandom(seed) });
      const fullMs = Math.min(30_000, 500 * 2 ** (attempt - 1));
      return pauseMs >= fullMs / 2 && pauseMs <= fullMs;
    }),
  );
});

test("clients that failed together come back at different times", () => {
  const pauses = Array.from({ length: 20 }, (_, seed) =>
    backoffMs(3, { ...backoff, random: seededRandom(seed) }),
  );
  expect(new Set(pauses).size).toBeGreaterThan(15);
});
