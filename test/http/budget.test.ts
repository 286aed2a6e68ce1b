import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { startLimiter, type LimiterKind } from "../support/rate-limit/simulated-budget.ts";
import { testRateLimiter } from "../support/rate-limit/rate-limit.ts";
import { get } from "../support/http/http-client.ts";
import { json, serviceWith, type Answering } from "../support/http/http.ts";

const windowMs = 1_500;
const limit = 20;

/** The service's limiter behind a real server; answers come back in any order. */
function limited(kind: LimiterKind) {
  const limiter = startLimiter(kind, limit, windowMs);
  const answering: Answering = async (answer, _, index) => {
    const accepted = limiter.hit(systemClock.monotonicMs(), "own");
    const atHit = limiter.remaining(systemClock.monotonicMs());
    await systemClock.sleep((index * 7) % 23);
    const nowMs = systemClock.monotonicMs();
    const remaining = kind.reports === "at_hit" ? atHit : limiter.remaining(nowMs);
    const rate = {
      "x-ratelimit-limit": String(limit),
      "x-ratelimit-remaining": String(accepted ? remaining : 0),
    };
    const retry = accepted ? {} : { "retry-after": String(limiter.retryAfterS(nowMs)) };
    json(answer, {}, accepted ? 200 : 429, { ...rate, ...retry });
  };
  return { limiter, answering };
}

describe("I8: alone on the company, a real transport against a real server is never refused", () => {
  test.each(["at_hit", "at_answer"] as const)(
    "and uses every permit of a full window (reported %s)",
    async (reports) => {
      const { limiter, answering } = limited({ ends: "exact", reports });
      const rateLimiter = testRateLimiter(systemClock, { windowMs, defaultLimit: 120 });
      const { http } = await serviceWith(answering, { rateLimiter });
      const answers = await Promise.all(Array.from({ length: limit + 5 }, (_, i) => http.send(get(`/${i}`))));
      expect(answers.every(({ status }) => status === 200)).toBe(true);
      expect(http.stats()).toMatchObject({ rateLimited: 0, retried: 0, requests: 25 });
      expect(http.stats().waitedMs).toBeGreaterThan(windowMs);
      expect(limiter.windows.map(({ own }) => own)).toEqual([limit, 5]);
      expect(rateLimiter.view()).toMatchObject({ limit, remaining: limit - 5, waitMs: 0 });
    },
  );
});

describe("I8: with another client on the company", () => {
  // Fault: limiter | another client takes permits of the window | a real server with a limiter | the 429 is waited out, and the call succeeds (I8)
  test("a refusal is waited out, and the call succeeds", async () => {
    const { limiter, answering } = limited({ ends: "exact", reports: "at_answer" });
    const rateLimiter = testRateLimiter(systemClock, { windowMs, defaultLimit: limit });
    const { http } = await serviceWith(answering, { rateLimiter });
    for (let i = 0; i < limit; i++) limiter.hit(systemClock.monotonicMs(), "others");
    const answer = await http.send(get("/x"));
    expect(answer).toMatchObject({ status: 200, attempts: 2 });
    expect(http.stats()).toMatchObject({ rateLimited: 1 });
  });
});
