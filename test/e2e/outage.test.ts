import { describe, expect, onTestFinished, test } from "vitest";
import { minuteMs, type Clock } from "../../src/base/clock.ts";
import { openDatabase, type Db } from "../../src/store/database.ts";
import { aCompany, fastClock, sync, type Company } from "../support/company/company.ts";
import { count, expectEqual, expectHealed } from "../support/truth/equal.ts";
import {
  forbidden,
  htmlPage,
  jsonReply,
  unavailable,
  type Breakage,
  type Obstacle,
  type Reply,
} from "../support/company/proxy.ts";

const failing = jsonReply(500, { message: "Server Error" });

/** Away for some minutes of the run's clock, from the n-th request on. */
function awayFor(clock: Clock, ms: number, reply: () => Reply | Breakage, fromRequest = 1): Obstacle {
  let sinceMs: number | null = null;
  return ({ n }) => {
    if (n < fromRequest) return undefined;
    sinceMs ??= clock.monotonicMs();
    return clock.monotonicMs() - sinceMs < ms ? reply() : undefined;
  };
}

/** Where it does not matter how much is asked for. */
const some = {
  resources: ["suppliers", "orders", "invoices", "document_payments"],
  tables: ["suppliers", "orders", "invoices"],
};

// Fault: service | away for ten minutes: 503, 500, or a maintenance page with 503 or 200 | a proxy on the run's clock, before the first request | the run waits with fewer than 20 probes and then completes
// Fault: service | away for ten minutes in the middle of a run | a proxy on the run's clock, from the 6th request on | one request at a time, no attempt used up, complete
test.each([1, 6])(
  "a service that is away for ten minutes in five ways, from request %i on, is waited for: few requests, one at a time, no attempt used up, complete",
  async (from) => {
    const clock = fastClock();
    const company = await aCompany();
    const ways = [unavailable, failing, "reset", htmlPage(503), htmlPage(200)] as const;
    const seen = { failed: 0, together: 0 };
    const away = awayFor(clock, 10 * minuteMs, () => ways[seen.failed % ways.length] ?? "reset", from);
    company.proxy.obstruct((asked, passOn) => {
      const answer = away(asked, passOn);
      if (answer === undefined) return undefined;
      seen.failed += 1;
      if (seen.failed > 10) seen.together = Math.max(seen.together, company.proxy.inFlight());
      return answer;
    });
    expect(await sync(company, { ...some, clock })).toMatchObject({ outcome: "complete", troubles: [] });
    expect(seen.failed).toBeLessThan(30);
    expect(seen.together).toBe(1);
    expect(company.proxy.asked.filter(({ path }) => path === "/whoami").length).toBeLessThan(20);
    expectEqual(company, some);
    for (const words of ["the service gives no usable answer", "answers again"])
      expect([words, company.said.filter((line) => line.includes(words)).length]).toEqual([words, 1]);
  },
);

describe("a service that is away for good", () => {
  // Fault: network | connections break for longer than `http.patience` | a proxy, from the 9th request on | the run fails after 15 minutes with a bounded number of requests; the next one continues
  test("ends the run after the patience as failed; the next run goes on", async () => {
    const clock = fastClock();
    const company = await aCompany();
    company.proxy.obstruct(({ n }) => (n > 8 ? "reset" : undefined));
    const begunMs = clock.monotonicMs();
    const report = await sync(company, { ...some, clock });
    expect(report).toMatchObject({ outcome: "failed", error: { kind: "network" } });
    expect(report.error?.message).toMatch(/gave no usable answer for 15m/);
    expect(clock.monotonicMs() - begunMs).toBeLessThan(17 * minuteMs);
    expect(company.proxy.asked.length).toBeLessThan(8 + 6 + 25);
    const kept = "SELECT count(*) FROM _work WHERE state <> 'ready' OR attempts > 1";
    expect(count(company.file, kept)).toBe(0);
    company.recover();
    expect(await sync(company, some)).toMatchObject({ outcome: "complete", resumed: true });
    expectEqual(company, some);
  });

  // Fault: process | the time of --max-duration ends during an outage | the run's signal, while the service answers 503 | the wait ends at once; the run is stopped
  // Fault: process | Ctrl-C during an outage | the run's signal, while the service answers 503 | the wait ends at once
  test.each([
    ["closed", "stopped"],
    ["signal", "interrupted"],
  ] as const)("the user's end (%s) ends the wait at once: %s", async (name, outcome) => {
    const company = await aCompany();
    const ending = new AbortController();
    company.proxy.obstruct(({ n }) => {
      if (n === 3) ending.abort();
      return unavailable;
    });
    const report = await sync(company, { [name]: ending.signal });
    expect(report.outcome).toBe(outcome);
    expect(company.proxy.asked.length).toBeLessThan(5);
  });
});

// Fault: service | everything but /whoami is refused | a proxy, from the 10th request on | a bounded number of requests and a bounded time; the next run is whole
test.each([
  // Asked for five times in a row.
  ["403", forbidden, 50],
  // What may pass is tried for a minute.
  ["500", failing, 300],
  ["a page with 200", htmlPage(200), 300],
])(
  "a service that refuses everything but /whoami in the middle of a run costs a bounded number of requests: %s",
  async (_answer, reply, most) => {
    const clock = fastClock();
    const company = await aCompany();
    company.proxy.obstruct(({ path, n }) => (path === "/whoami" || n < 10 ? undefined : reply));
    const begunMs = clock.monotonicMs();
    const report = await sync(company, { ...some, clock });
    expect(["partial", "failed"]).toContain(report.outcome);
    expect(company.proxy.asked.length).toBeLessThan(10 + most);
    expect(clock.monotonicMs() - begunMs).toBeLessThan(45 * minuteMs);
    await expectHealed(company, some);
  },
);

/** From the n-th request on, another program holds the mirror's lock for some time of the run's clock. */
function lockFrom(company: Company, request: number, forMs: number) {
  const clock = fastClock();
  let untilMs: number | null = null;
  let other: Db | null = null;
  company.proxy.obstruct(({ n }) => {
    if (n !== request) return undefined;
    const opened = (other = openDatabase(company.file));
    onTestFinished(() => void opened.close());
    other.exec("BEGIN IMMEDIATE; UPDATE _meta SET value = value");
    untilMs = clock.monotonicMs() + forMs;
    return undefined;
  });
  const sleep: typeof clock.sleep = async (ms, signal) => {
    await clock.sleep(ms, signal);
    if (untilMs === null || clock.monotonicMs() < untilMs) return;
    untilMs = null;
    other?.exec("COMMIT");
  };
  return { ...clock, sleep };
}

// Fault: disk | another program holds the mirror's write lock for 25 s | a second connection, in the middle of a run | waited for; the run is complete
test("a foreign write transaction of 25 s is waited for: the run completes, and the mirror is equal", async () => {
  const company = await aCompany();
  // Six waiting reads share the run's clock.
  const clock = lockFrom(company, 40, 25_000);
  expect(await sync(company, { clock, concurrency: 1 })).toMatchObject({ outcome: "complete", troubles: [] });
  expectEqual(company);
  expect(company.said.join("\n")).toContain("another program holds the database");
});
