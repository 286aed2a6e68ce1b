import { expect, test } from "vitest";
import type { LimiterKind } from "../../connectors/fintoro/sandbox/service/limiter.ts";
import { aCompany, fastClock, sync } from "../support/company/company.ts";
import { expectEqual } from "../support/truth/equal.ts";
import { jsonReply } from "../support/company/proxy.ts";
import { testRateLimiter } from "../support/rate-limit/rate-limit.ts";

const windowMs = 60_000;
const kinds: readonly LimiterKind[] = ["fixed", "whole_seconds", "hit_time"];

// Fault: limiter | a budget of 20 requests, counted in one of three ways | the sandbox's limiter, for a whole first run | no 429, and windows are used whole (I8)
test.each(kinds)(
  "alone on a small budget (I8), a limiter of the kind %s refuses nothing, and the run completes window by window",
  async (limiter) => {
    const clock = fastClock();
    const company = await aCompany({ records: 5, limiter, limit: 20, windowMs, clock });
    const begunMs = clock.monotonicMs();
    const rateLimiter = testRateLimiter(clock, { windowMs, reserveShare: 0 });
    const report = await sync(company, { rateLimiter });
    expect(report).toMatchObject({ outcome: "complete", requests: { rate_limited: 0 } });
    expect(company.sandbox.requests().filter(({ status }) => status === 429)).toEqual([]);
    const windows = Math.ceil(company.proxy.asked.length / 20);
    expect(clock.monotonicMs() - begunMs).toBeLessThan((windows + 1) * windowMs);
    expectEqual(company);
  },
);

// Fault: limiter | another client takes permits of the window | a proxy that answers 429 in the middle of a run | the 429 is waited out, and the run is complete (I8)
// Fault: limiter | 429 with Retry-After 0 and without, in the middle of a run | a proxy, for two requests of a run | asked again and counted; the run is complete
test("a run that is refused with 429 asks again, counts it, and is complete", async () => {
  const clock = fastClock();
  const company = await aCompany({ clock, records: 2 });
  const headers = { "x-ratelimit-limit": "120", "x-ratelimit-remaining": "0" };
  company.proxy.obstruct(({ n }) => {
    if (n !== 15 && n !== 25) return undefined;
    const again = n === 15 && { "retry-after": "0" };
    return jsonReply(429, { message: "Too Many Attempts." }, { ...headers, ...again });
  });
  const rateLimiter = testRateLimiter(clock, { windowMs, reserveShare: 0 });
  const report = await sync(company, { rateLimiter });
  expect(report).toMatchObject({ outcome: "complete", requests: { rate_limited: 2 } });
  expectEqual(company);
});
