import { expect, test } from "vitest";
import { dayMs } from "../../src/base/clock.ts";
import type { Lane } from "../../src/base/lane.ts";
import type { Permit, RateLimiter } from "../../src/rate-limit/permit.ts";
import { limitMonth, quotaOf, type MonthCount } from "../../src/rate-limit/monthly-quota.ts";
import { stubLog } from "../support/http/http-client.ts";
import { DrivenClock } from "../support/virtual/driven-clock.ts";

/** A month of 15 calls, of which a tenth is kept. Permits use a call of it when they are given, and `taken` more before. */
function aMonth(used: number, waits = false) {
  const [clock, log, lost] = [new DrivenClock(), stubLog(), [] as string[]];
  const month: MonthCount & { used: number } = { used, limit: null };
  const taken: number[] = [];
  const permit: Permit = { answered: () => undefined, lost: () => void lost.push("lost") };
  const rateLimiter: RateLimiter = {
    admit: () => {
      month.used += 1 + (taken.shift() ?? 0);
      return Promise.resolve(permit);
    },
    view: () => ({ limit: null, granted: 1, remaining: null, waitMs: 0 }),
  };
  const store = { readMonth: () => month, noteMonth: () => undefined };
  const quota = quotaOf({ requests: 15 }, { monthly: null, reserveShare: 0.1 }, store, clock);
  if (!quota) throw new Error("it is declared");
  const limited = limitMonth(rateLimiter, quota, log)(waits);
  const admit = (lane: Lane, signal?: AbortSignal) => limited.admit(lane, signal);
  return { clock, log, lost, month, taken, admit, view: () => limited.view() };
}

test("what is kept of a month is rounded up, and nothing is left of one that is used up", () => {
  expect(aMonth(4).view().month).toMatchObject({ limit: 15, kept: 2, left: 9 });
  expect(aMonth(20).view().month).toMatchObject({ left: 0 });
});

test("a run that finds the month used up is refused each time, and the log says so once a month; events have what is kept", async () => {
  const { admit, clock, log } = aMonth(13);
  const warnings = () => log.lines.filter(({ level }) => level === "warn");
  for (let times = 0; times < 2; times++)
    await expect(admit("list")).rejects.toMatchObject({ kind: "stopped" });
  expect(warnings()).toHaveLength(1);
  await admit("webhook");
  clock.wind(31 * dayMs);
  await expect(admit("list")).rejects.toMatchObject({ kind: "stopped" });
  expect(warnings()).toHaveLength(2);
});

test("a permit whose call another process took is given back, and none is given in its place", async () => {
  const { admit, lost, taken } = aMonth(12);
  taken.push(1);
  await expect(admit("list")).rejects.toMatchObject({ kind: "stopped" });
  expect(lost).toHaveLength(1);
});

test("an event waits for the next month, which it looks for every minute, and a stop ends that", async () => {
  const { admit, clock, month } = aMonth(15);
  const waiting = admit("webhook");
  await clock.advance(59_999);
  month.used = 0;
  await clock.advance(1);
  expect(month.used).toBe(1);
  await waiting;
  const stop = new AbortController();
  month.used = 15;
  const stopped = admit("webhook", stop.signal);
  stop.abort();
  await expect(stopped).rejects.toThrow("stopped while waiting for the next month's calls");
});

test("what is made for the event worker waits with all it asks for, and says once a month why", async () => {
  const { admit, clock, log, month } = aMonth(13, true);
  const waiting = admit("list");
  await clock.advance(120_000);
  expect(log.lines.filter(({ level }) => level === "warn")).toHaveLength(1);
  await admit("webhook");
  month.used = 0;
  await clock.advance(60_000);
  await waiting;
});
