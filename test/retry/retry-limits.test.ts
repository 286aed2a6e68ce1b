import { expect, test } from "vitest";
import { seededRandom } from "../support/seeded-random.ts";
import { backoffMs } from "../../src/retry/retry-limits.ts";

const backoff = { baseMs: 500, maxMs: 30_000 };

test("the pause doubles with each failed attempt, up to the longest", () => {
  const pauses = [1, 2, 3, 6, 7, 8, 60, 5_000].map((attempt) => backoffMs(attempt, backoff));
  expect(pauses).toEqual([500, 1_000, 2_000, 16_000, 30_000, 30_000, 30_000, 30_000]);
  expect(backoffMs(0, backoff)).toBe(500);
});

test("half of the pause is random where a source of random numbers is given", () => {
  const pauses = Array.from({ length: 20 }, (_, seed) => backoffMs(3, backoff, seededRandom(seed)));
  expect(pauses.filter((pauseMs) => pauseMs < 1_000 || pauseMs > 2_000)).toEqual([]);
  expect(new Set(pauses).size).toBeGreaterThan(15);
});
