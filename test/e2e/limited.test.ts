import { describe, expect, test } from "vitest";
import type { LimiterKind } from "../../connectors/fintoro/sandbox/service/limiter.ts";
import { aCompany, fastClock, sync } from "../support/company/company.ts";
import { expectEqual } from "../support/truth/equal.ts";
import { testRateLimiter } from "../support/rate-limit/rate-limit.ts";
import { jsonReply } from "../support/company/proxy.ts";

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

describe("429", () => {
  // Fault: limiter | 429 with Retry-After 3, with 0, and without | a proxy, for two requests of a run | waited out and asked again; complete
  test("with Retry-After 3, with 0 and without: waited out, asked again, complete", async () => {
    const clock = fastClock();
    const company = await aCompany({ clock, records: 5 });
    const refusal = { "x-ratelimit-limit": "120", "x-ratelimit-remaining": "0" };
    const waits = new Map<number, Readonly<Record<string, string>>>([
      [15, { "retry-after": "3" }],
      [25, { "retry-after": "0" }],
      [40, {}],
    ]);
    company.proxy.obstruct(({ n }) => {
      const wait = waits.get(n);
      return wait && jsonReply(429, { message: "Too Many Attempts." }, { ...refusal, ...wait });
    });
    const report = await sync(company, {
      rateLimiter: testRateLimiter(clock, { windowMs, reserveShare: 0 }),
    });
    expect(report).toMatchObject({ outcome: "complete", requests: { rate_limited: 3 } });
    expectEqual(company);
  });

  // Fault: limiter | another client takes half of the budget | requests of another client after every second of the run's | the run backs off, gets through and is complete (I8)
  test("with another client who takes most of the budget: it backs off, gets through and completes (I8)", async () => {
    const clock = fastClock();
    const company = await aCompany({ records: 5, limit: 30, windowMs, clock });
    const { url, token } = company.sandbox;
    company.proxy.obstruct(async (asked) => {
      if (asked.n % 2 === 0)
        await fetch(`${url}/units`, { headers: { authorization: `Bearer ${token}` } }).then((answer) =>
          answer.text(),
        );
      return undefined;
    });
    const report = await sync(company, {
      rateLimiter: testRateLimiter(clock, { windowMs, reserveShare: 0 }),
    });
    expect(report.outcome).toBe("complete");
    expectEqual(company);
  });
});
