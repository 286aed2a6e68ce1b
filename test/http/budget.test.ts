import { expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import type { RateLimiter } from "../../src/rate-limit/permit.ts";
import { startLimiter, type LimiterKind } from "../support/rate-limit/simulated-budget.ts";
import { testRateLimiter } from "../support/rate-limit/rate-limit.ts";
import { eventually } from "../support/eventually.ts";
import { get } from "../support/http/http-client.ts";
import { json, serviceWith } from "../support/http/http.ts";
import { DrivenClock } from "../support/virtual/driven-clock.ts";

const windowMs = 1_500;
const limit = 20;

/**
 * A transport, and the service's limiter behind a real server; answers come back in any order. `ended` lets time pass,
 * whenever nothing is in flight, until the calls have ended.
 */
async function limited(kind: LimiterKind, defaultLimit: number) {
  const clock = new DrivenClock();
  const limiter = startLimiter(kind, limit, windowMs);
  const rateLimiter = testRateLimiter(clock, { windowMs, defaultLimit });
  let inFlight = 0;
  const admit: RateLimiter["admit"] = async (...asked) => {
    const permit = await rateLimiter.admit(...asked);
    inFlight++;
    return {
      ...permit,
      answered: (...answer) => {
        inFlight--;
        permit.answered(...answer);
      },
    };
  };
  const { http } = await serviceWith(
    async (answer, _, index) => {
      const nowMs = clock.monotonicMs();
      const accepted = limiter.hit(nowMs, "own");
      const atHit = limiter.remaining(nowMs);
      await systemClock.sleep((index * 7) % 23);
      const remaining = kind.reports === "at_hit" ? atHit : limiter.remaining(nowMs);
      const rate = {
        "x-ratelimit-limit": String(limit),
        "x-ratelimit-remaining": String(accepted ? remaining : 0),
      };
      const retry = accepted ? {} : { "retry-after": String(limiter.retryAfterS(nowMs)) };
      json(answer, {}, accepted ? 200 : 429, { ...rate, ...retry });
    },
    {
      rateLimiter: { ...rateLimiter, admit },
      clock: { ...systemClock, monotonicMs: () => clock.monotonicMs() },
    },
  );
  const ended = async <T>(calls: Promise<T>): Promise<T> => {
    const state = { isOver: false };
    const end = () => void (state.isOver = true);
    void calls.then(end, end);
    while (!state.isOver) {
      await eventually(() => state.isOver || (inFlight === 0 && clock.sleeping > 0), "a wait of the rest");
      await clock.advance(10);
    }
    return calls;
  };
  return { clock, limiter, rateLimiter, http, ended };
}

test.each(["at_hit", "at_answer"] as const)(
  "I8: alone on the company, a real transport against a real server is never refused and uses every permit of a full window (reported %s)",
  async (reports) => {
    const { limiter, rateLimiter, http, ended } = await limited({ ends: "exact", reports }, 120);
    const calls = Array.from({ length: limit + 5 }, (_, i) => http.send(get(`/${i}`)));
    const answers = await ended(Promise.all(calls));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(http.stats()).toMatchObject({ rateLimited: 0, requests: 25 });
    expect(http.stats().waitedMs).toBeGreaterThan(windowMs);
    expect(limiter.windows.map(({ own }) => own)).toEqual([limit, 5]);
    expect(rateLimiter.view()).toMatchObject({ limit, remaining: limit - 5, waitMs: 0 });
  },
);

// Fault: limiter | another client takes permits of the window | a real server with a limiter | the 429 is waited out, and the call succeeds (I8)
test("I8: with another client on the company a refusal is waited out, and the call succeeds", async () => {
  const { clock, limiter, http, ended } = await limited({ ends: "exact", reports: "at_answer" }, limit);
  for (let i = 0; i < limit; i++) limiter.hit(clock.monotonicMs(), "others");
  expect(await ended(http.send(get("/x")))).toMatchObject({ status: 200 });
  expect(http.stats()).toMatchObject({ rateLimited: 1, requests: 2 });
});
