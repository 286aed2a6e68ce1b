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
import { retryAfter } from "../../src/http/http-transport.ts";

const backoff = { baseMs: 500, maxMs: 30_000, random: seededRandom(1) };
const after = (error: MirrorError, failed: number, repeatable = true) =>
  retryAfter(error, { repeatable, once: false }, failed, 0, 5, backoff);

describe("another attempt is made", () => {
  test.each([
    new UnavailableError("500"),
    new NetworkError("reset"),
    new ProtocolError("HTML", { retryable: true }),
  ])("after %s, as long as attempts are left", (error) => {
    expect(after(error, 4)).toEqual(expect.any(Number));
    expect(after(error, 5)).toBeNull();
  });

  test.each([
    new NotFoundError("404"),
    new ProtocolError("too large"),
    new NetworkError("certificate", { retryable: false }),
    new MirrorError("stopped", "stopped"),
  ])("never after %s", (error) => {
    expect(after(error, 1)).toBeNull();
  });

  test("never of a call that may not be repeated", () => {
    expect(after(new UnavailableError("503"), 1, false)).toBeNull();
  });

  test("never for a caller that tries again itself, after 429 neither", () => {
    const call = { repeatable: true, once: true };
    for (const error of [new UnavailableError("503"), new RateLimitedError("429")])
      expect(retryAfter(error, call, 1, 1, 5, backoff)).toBeNull();
  });

  test("after 429 at once, because the rate limiter waits; of a write too; until too many came in a row", () => {
    const refusal = new RateLimitedError("429", { retryAfterMs: 5_000 });
    const step = (refused: number) =>
      retryAfter(refusal, { repeatable: false, once: false }, 0, refused, 5, backoff);
    expect(step(9)).toBe(0);
    expect(step(10)).toBeNull();
  });
});

const asking = (retryAfterMs: number) => new UnavailableError("503", { retryAfterMs });

describe("the pause", () => {
  test("is as long as Retry-After asks, up to a limit", () => {
    expect(after(asking(7_000), 1)).toBe(7_000);
    expect(after(asking(9_999_999), 1)).toBe(120_000);
    expect(after(asking(0), 1)).not.toBe(0);
  });
});
