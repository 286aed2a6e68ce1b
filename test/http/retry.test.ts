import { describe, expect, test } from "vitest";
import { MirrorError } from "../../src/base/errors.ts";
import { seededRandom } from "../support/seeded-random.ts";
import {
  NetworkError,
  NotFoundError,
  ProtocolError,
  RateLimitedError,
  UnavailableError,
} from "../../src/connector/service-errors.ts";
import { nextAttempt, type RetryRules } from "../../src/http/http-transport.ts";

const rules: RetryRules = {
  attempts: 5,
  backoff: { baseMs: 500, maxMs: 30_000, random: seededRandom(1) },
};
const after = (error: MirrorError, failed: number, repeatable = true) =>
  nextAttempt({ error }, { failed, refused: 0, repeatable, once: false }, rules);

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

  test("never for a caller that tries again itself, after 429 neither", () => {
    const progress = { failed: 1, refused: 1, repeatable: true, once: true };
    for (const error of [new UnavailableError("503"), new RateLimitedError("429")])
      expect(nextAttempt({ error }, progress, rules)).toBe("give_up");
  });

  test("after 429 at once, because the rate limiter waits; of a write too; until too many came in a row", () => {
    const refusal = { error: new RateLimitedError("429", { retryAfterMs: 5_000 }) };
    const step = (refused: number) =>
      nextAttempt(refusal, { failed: 0, refused, repeatable: false, once: false }, rules);
    expect(step(9)).toEqual({ retryInMs: 0 });
    expect(step(10)).toBe("give_up");
  });
});

const asking = (retryAfterMs: number) => new UnavailableError("503", { retryAfterMs });

describe("the pause", () => {
  test("is as long as Retry-After asks, up to a limit", () => {
    expect(after(asking(7_000), 1)).toEqual({ retryInMs: 7_000 });
    expect(after(asking(9_999_999), 1)).toEqual({ retryInMs: 120_000 });
    expect(after(asking(0), 1)).not.toEqual({ retryInMs: 0 });
  });
});
