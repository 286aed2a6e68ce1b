import { describe, expect, test } from "vitest";
import { minuteMs } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/logger.ts";
import { ContradictionError, ForbiddenError, NetworkError } from "../../src/connector/service-errors.ts";
import { ProtocolError, RateLimitedError, UnavailableError } from "../../src/connector/service-errors.ts";
import type { WorkItem } from "../../src/state/work-item.ts";
import { Tally, type Outage } from "../../src/sync/context/tally.ts";
import { batchRetryPolicy, outageAfter } from "../../src/sync/retry/batch-retry-policy.ts";
import { mayPass } from "../../src/sync/retry/retry-policy.ts";
import { DrivenClock } from "../support/virtual/driven-clock.ts";

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

// Fault: limiter | 429 with Retry-After 0, for good | failures of a run | it is an outage: one request at a time, and the run fails after `http.patience` (I8)
test("only errors that may pass begin an outage", () => {
  const page = new ProtocolError("HTML", { retryable: true });
  const passing = [away(), new NetworkError("reset"), page, new RateLimitedError("429")];
  expect(passing.filter((error) => !mayPass(error))).toEqual([]);
  const forGood = new NetworkError("certificate", { retryable: false });
  const lasting = [
    forGood,
    new ForbiddenError("403"),
    new ContradictionError("page 2"),
    new TypeError("bug"),
  ];
  expect(lasting.filter(mayPass)).toEqual([]);
});

function itemOf(id: number, resource = "people"): WorkItem {
  const rest = { attempts: 0, lane: "hydration", reason: "new", dirtySeq: 1 } as const;
  return { id, kind: "detail", resource, target: `id:${id}`, ...rest };
}

function policyWith(ask: () => Promise<unknown> = () => Promise.resolve()) {
  const clock = new DrivenClock();
  const ended = new AbortController().signal;
  const parts = { clock, log: silentLog, tally: new Tally(), patienceMs: 900_000, ended };
  return { policy: batchRetryPolicy(parts, ask), clock };
}

test("one record's own failures: tried again 5 times over a minute while others succeed, then set aside", () => {
  const { policy } = policyWith();
  const outcomes = Array.from({ length: 6 }, () => {
    policy.succeeded(itemOf(2));
    return policy.judge(away(), itemOf(1));
  });
  expect(outcomes.map(({ kind }) => kind)).toEqual(["postpone", "retry", "retry", "retry", "retry", "dead"]);
  const pausesMs = outcomes.map((outcome) => ("afterMs" in outcome ? outcome.afterMs : 0));
  expect(pausesMs.reduce((sum, ms) => sum + ms)).toBe(60_000);
});

test("an outage uses up no attempt, however long", async () => {
  const { policy, clock } = policyWith();
  policy.succeeded(itemOf(2));
  for (let minutes = 0; minutes < 14; minutes++) {
    expect(policy.judge(away(), itemOf(1))).toEqual({ kind: "postpone", afterMs: 2_000 });
    await clock.advance(60_000);
  }
  expect(policy.isFailing("people")).toBe(true);
  await clock.advance(60_000);
  expect(policy.judge(away(), itemOf(3))).toMatchObject({ kind: "stop", because: { kind: "unavailable" } });
});

test("any answer of the service ends the outage, a refusal too", () => {
  const { policy } = policyWith();
  policy.judge(away(), itemOf(1));
  policy.judge(new ForbiddenError("403", { status: 403 }), itemOf(2));
  expect(policy.outage).toBeNull();
});

test("a probe that is answered shows that the failures are the items' own", async () => {
  const { policy } = policyWith();
  const kinds: string[] = [];
  for (let times = 1; times <= 6; times++) {
    kinds.push(policy.judge(away(), itemOf(1)).kind);
    await policy.probe();
    expect(policy.outage).toBeNull();
  }
  expect(kinds.at(-1)).toBe("dead");
});

test("a probe that fails keeps the run waiting; one that is refused ends it", async () => {
  const { policy } = policyWith(() => Promise.reject(away()));
  policy.judge(away(), itemOf(1));
  await policy.probe();
  expect(policy.outage).not.toBeNull();
  const refused = policyWith(() => Promise.reject(new ForbiddenError("403")));
  await expect(refused.policy.probe()).rejects.toBeInstanceOf(ForbiddenError);
});
