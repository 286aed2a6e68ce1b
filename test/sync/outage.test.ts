import { describe, expect, test } from "vitest";
import {
  ContradictionError,
  ForbiddenError,
  NetworkError,
  ProtocolError,
  UnavailableError,
} from "../../src/connector/service-errors.ts";
import type { Outage } from "../../src/sync/context/tally.ts";
import { outageAfter } from "../../src/sync/retry/batch-retry-policy.ts";
import { mayPass } from "../../src/sync/retry/retry-policy.ts";

const minuteMs = 60_000;
const patienceMs = 15 * minuteMs;
const away = (retryAfterMs: number | null = null) => new UnavailableError("503", { retryAfterMs });

/** One failure at each probe, until the end. */
function probesUntilTheEnd(): Outage[] {
  const outages: Outage[] = [];
  let outage: Outage | null = null;
  for (let nowMs = 1_000; outage === null || nowMs < outage.untilMs; nowMs = outage.probeAtMs) {
    outage = outageAfter(outage, { error: away(), nowMs }, patienceMs);
    outages.push(outage);
  }
  return outages;
}

function firstProbeMs(retryAfterMs: number | null): number {
  return outageAfter(null, { error: away(retryAfterMs), nowMs: 0 }, patienceMs).probeAtMs;
}

describe("an outage", () => {
  test("is probed after 2 s at first, later every 60 s, and last when the patience is over", () => {
    const outages = probesUntilTheEnd();
    const atS = outages.map(({ probeAtMs }) => (probeAtMs - 1_000) / 1_000);
    expect(atS.slice(0, 8)).toEqual([2, 6, 14, 30, 62, 122, 182, 242]);
    expect(atS.at(-1)).toBe(patienceMs / 1_000);
    expect(outages.length).toBeLessThan(21);
    expect(outages.every(({ sinceMs }) => sinceMs === 1_000)).toBe(true);
  });

  test("is not lengthened by requests that were in flight when it began", () => {
    const first = outageAfter(null, { error: away(), nowMs: 0 }, patienceMs);
    const second = outageAfter(first, { error: away(), nowMs: 1_999 }, patienceMs);
    expect(second).toMatchObject({ probes: 0, probeAtMs: 2_000 });
  });

  // Fault: service | 503 with a long Retry-After | the run's outage | probed as late as asked, but once a minute
  test("is probed as late as Retry-After asks, but once a minute", () => {
    expect([null, 0, 1_000, 20_000, 3_600_000].map(firstProbeMs)).toEqual([
      2_000, 2_000, 2_000, 20_000, 60_000,
    ]);
  });
});

test("only errors that may pass begin an outage", () => {
  expect(mayPass(away())).toBe(true);
  expect(mayPass(new NetworkError("reset"))).toBe(true);
  expect(mayPass(new NetworkError("certificate", { retryable: false }))).toBe(false);
  expect(mayPass(new ForbiddenError("403"))).toBe(false);
  expect(mayPass(new ProtocolError("HTML", { retryable: true }))).toBe(true);
  expect(mayPass(new ContradictionError("returned page 2"))).toBe(false);
  expect(mayPass(new TypeError("bug"))).toBe(false);
});
