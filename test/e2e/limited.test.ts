import { describe, expect, test } from "vitest";
import type { LimiterKind } from "../../connectors/fintoro/sandbox/service/limiter.ts";
import { aCompany, fastClock, sync } from "../support/company/company.ts";
import { expectEqual } from "../support/truth/equal.ts";
import { testRateLimiter } from "../support/rate-limit/rate-limit.ts";

const windowMs = 60_000;
const kinds: readonly LimiterKind[] = ["fixed", "whole_seconds", "hit_time"];

describe("alone on a small budget (I8)", () => {
  // Fault: limiter | a budget of 20 requests, counted in one of three ways | the sandbox's limiter, for a whole first run | no 429, and windows are used whole (I8)
  test.each(kinds)(
    "a limiter of the kind %s refuses nothing, and the run completes window by window",
    async (limiter) => {
      const clock = fastClock();
      const company = await aCompany({ records: 5, limiter, limit: 20, windowMs, clock });
      const begunMs = clock.monotonicMs();
      const report = await sync(company, {
        rateLimiter: testRateLimiter(clock, { windowMs, reserveShare: 0 }),
      });
      expect(report).toMatchObject({ outcome: "complete", requests: { rate_limited: 0 } });
      expect(company.sandbox.requests().filter(({ status }) => status === 429)).toEqual([]);
      const windows = Math.ceil(company.proxy.asked.length / 20);
      expect(clock.monotonicMs() - begunMs).toBeLessThan((windows + 1) * windowMs);
      expectEqual(company);
    },
  );
});
