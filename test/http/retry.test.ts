import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MirrorError } from "../../src/base/errors.ts";
import { seededRandom } from "../../src/base/random.ts";
import {
  NetworkError,
  NotFoundError,
  ProtocolError,
  RateLimitedError,
  UnavailableError,
} from "../../src/connector/errors.ts";
import { backoffMs, nextStep, type RetryRules } from "../../src/http/retry.ts";

const rules: RetryRules = {
  attempts: 5,
  refusals: 10,
  baseMs: 500,
  capMs: 30_000,
  longestRetryAfterMs: 120_000,
};
const random = seededRandom(1);
const after = (error: MirrorError, failed: number, repeatable = true, retryAfterMs: number | null = null) =>
  nextStep({ error, retryAfterMs }, { failed, refused: 0 }, repeatable, rules, random);

describe("another attempt is made", () => {
  test.each([
    new UnavailableError("500"),
    new NetworkError("reset"),
    new ProtocolError("HTML", { retryable: true }),
  ])("after %s, as long as attempts are left", (error) => {
    expect(after(error, 4)).toMatchObject({ retryInMs: expect.any(Number) as number });
    expect(after(error, 5)).toBe("give_up");
  });

  test.each([
    new NotFoundError("404"),
    new ProtocolError("too large"),
    new NetworkError("certificate", { retryable: false }),
    new MirrorError("stopped", "stopped"),
  ])("never after %s", (error) => {
    expect(after(error, 1)).toBe("give_up");
  });

  test("never of a call that may not be repeated", () => {
    expect(after(new UnavailableError("503"), 1, false)).toBe("give_up");
  });

  test("after 429 at once, for the governor waits, and also of a write, until too many came in a row", () => {
    const refusal = { error: new RateLimitedError("429"), retryAfterMs: 5_000 };
    const step = (refused: number) => nextStep(refusal, { failed: 0, refused }, false, rules, random);
    expect(step(9)).toEqual({ retryInMs: 0 });
    expect(step(10)).toBe("give_up");
  });
});

describe("the pause", () => {
  test("doubles up to the cap, and half of it is left to chance", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), fc.integer(), (failed, seed) => {
        const pauseMs = backoffMs(failed, rules, seededRandom(seed));
        const full = Math.min(30_000, 500 * 2 ** (failed - 1));
        return pauseMs >= full / 2 && pauseMs <= full;
      }),
    );
  });

  test("differs between clients that failed together", () => {
    const pauses = Array.from({ length: 20 }, (_, seed) => backoffMs(3, rules, seededRandom(seed)));
    expect(new Set(pauses).size).toBeGreaterThan(15);
  });

  test("is as long as a Retry-After asks, within reason", () => {
    expect(after(new UnavailableError("503"), 1, true, 7_000)).toEqual({ retryInMs: 7_000 });
    expect(after(new UnavailableError("503"), 1, true, 9_999_999)).toEqual({ retryInMs: 120_000 });
    expect(after(new UnavailableError("503"), 1, true, 0)).not.toEqual({ retryInMs: 0 });
  });
});
