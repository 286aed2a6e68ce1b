import { describe, expect, test } from "vitest";
import { MirrorError } from "../../src/base/errors.ts";
import {
  ContradictionError,
  ForbiddenError,
  NetworkError,
  ProtocolError,
  UnavailableError,
} from "../../src/connector/service-errors.ts";
import { Tally, type Outage } from "../../src/sync/context/tally.ts";
import { BatchRetryPolicy, outageAfter } from "../../src/sync/retry/batch-retry-policy.ts";
import { mayPass } from "../../src/sync/retry/retry-policy.ts";
import { fastClock } from "../support/company/company.ts";
import { loggingTo } from "../support/company/open-company.ts";

const minuteMs = 60_000;
const longestOutageMs = 15 * minuteMs;
const away = (retryAfterMs: number | null = null) => new UnavailableError("503", { retryAfterMs });

/** One failure at each probe, until the end. */
function probesUntilTheEnd(): Outage[] {
  const outages: Outage[] = [];
  let outage: Outage | null = null;
  for (let nowMs = 1_000; outage === null || nowMs < outage.untilMs; nowMs = outage.probeAtMs) {
    outage = outageAfter(outage, { error: away(), nowMs }, longestOutageMs);
    outages.push(outage);
  }
  return outages;
}

function firstProbeMs(retryAfterMs: number | null): number {
  return outageAfter(null, { error: away(retryAfterMs), nowMs: 0 }, longestOutageMs).probeAtMs;
}

describe("an outage", () => {
  test("is probed after 2 s at first, later every 60 s, and last when the patience is over", () => {
    const outages = probesUntilTheEnd();
    const atS = outages.map(({ probeAtMs }) => (probeAtMs - 1_000) / 1_000);
    expect(atS.slice(0, 8)).toEqual([2, 6, 14, 30, 62, 122, 182, 242]);
    expect(atS.at(-1)).toBe(longestOutageMs / 1_000);
    expect(outages.length).toBeLessThan(21);
    expect(outages.every(({ sinceMs }) => sinceMs === 1_000)).toBe(true);
  });

  test("is not lengthened by requests that were in flight when it began", () => {
    const first = outageAfter(null, { error: away(), nowMs: 0 }, longestOutageMs);
    const second = outageAfter(first, { error: away(), nowMs: 1_999 }, longestOutageMs);
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

function watch(ended = new AbortController().signal) {
  const said: string[] = [];
  const [tally, clock] = [new Tally(), fastClock()];
  const parts = { clock, log: loggingTo(said), tally, longestOutageMs, ended };
  const untilAnswered = <T>(ask: () => Promise<T>) => new BatchRetryPolicy(parts, ask).untilAnswered();
  return { untilAnswered, tally, clock, said };
}

describe("a run that waits for the service", () => {
  test("says so, shows since when, and goes on with the first answer", async () => {
    const { untilAnswered, tally, said } = watch();
    let asked = 0;
    const answer = await untilAnswered(() => {
      asked += 1;
      if (asked > 2) expect(tally.outage).toMatchObject({ error: expect.any(UnavailableError) as Error });
      return asked < 9 ? Promise.reject(away()) : Promise.resolve("here");
    });
    expect(answer).toBe("here");
    expect(tally).toMatchObject({ outage: null, requests: { retried: 8 } });
    expect(said.filter((line) => line.startsWith("warn"))).toHaveLength(1);
    expect(said.filter((line) => line.includes("still waiting"))).toHaveLength(6);
    expect(said.at(-1)).toContain("answers again");
  });

  test("ends with the service's error when its patience is over, counted from the first failure", async () => {
    const { untilAnswered, clock } = watch();
    const begunMs = clock.monotonicMs();
    const ending = untilAnswered(() => Promise.reject(away()));
    await expect(ending).rejects.toMatchObject({
      kind: "unavailable",
      message: "the service gave no usable answer for 15m 00s: 503",
      hint: expect.stringContaining("http.patience") as string,
    });
    expect(clock.monotonicMs() - begunMs).toBeLessThan(longestOutageMs + minuteMs);
  });

  test("does not wait for what cannot pass", async () => {
    const { untilAnswered } = watch();
    const error = new MirrorError("identity", "another company");
    await expect(untilAnswered(() => Promise.reject(error))).rejects.toBe(error);
  });

  test("ends at once when it is stopped", async () => {
    const { untilAnswered } = watch(AbortSignal.abort());
    await expect(untilAnswered(() => Promise.reject(away()))).rejects.toMatchObject({
      kind: "stopped",
      message: "stopped while waiting for the service: 503",
    });
  });
});
