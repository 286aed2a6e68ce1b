import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { dayMs, hourMs, minuteMs, type Clock } from "../../src/base/clock.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { runOnSchedule } from "../../src/host/run-scheduler.ts";
import { freshForMs, parseCronSchedule } from "../../src/config/cron-schedule.ts";

const zones = ["Europe/Bratislava", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC"];

interface Story {
  readonly pattern?: string;
  readonly zone?: string;
  readonly fromMs: number;
  readonly untilMs: number;
  /** What the wall clock does besides going on, at each sleep. */
  readonly jump?: (nowMs: number) => number;
  /** The machine sleeps through whatever was asked: looks come this far apart. */
  readonly lookMs?: number;
  readonly lastRunMs?: number;
}

/** Follows a schedule for as long as the story goes, on a clock that only sleep and runs move. */
async function follow(story: Story) {
  const { pattern = "15 2 * * *", zone = "Europe/Bratislava", fromMs, untilMs } = story;
  const end = new AbortController();
  let nowMs = fromMs;
  const pass = (ms: number) => {
    nowMs += ms;
    nowMs = story.jump?.(nowMs) ?? nowMs;
    if (nowMs >= untilMs) end.abort();
  };
  const clock: Clock = {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    sleep: async (ms) => pass(ms === 60_000 ? Math.max(ms, story.lookMs ?? ms) : ms),
  };
  const runs: { slotMs: number; beganMs: number; endedMs: number }[] = [];
  let lastSlotMs: number | null = null;
  const work = {
    schedule: parseCronSchedule(pattern, zone),
    done: () => ({ slotMs: lastSlotMs, wholeRunMs: story.lastRunMs ?? null }),
    run: async (slotMs: number) => {
      const beganMs = nowMs;
      pass(1_000);
      runs.push({ slotMs, beganMs, endedMs: nowMs });
      lastSlotMs = slotMs;
    },
  };
  await runOnSchedule(work, { clock, random: seededRandom(5) }, end.signal);
  return runs;
}

function localDay(atMs: number, timeZone: string): string {
  return new Intl.DateTimeFormat("en-CA", { timeZone, dateStyle: "short" }).format(atMs);
}

describe("a nightly schedule", () => {
  // Fault: clock | summer time begins and ends | the scheduler's clock, in zones of all kinds | one run a day
  test("runs exactly once on each local day, for years, in every zone, whatever the time", async () => {
    const from = Date.UTC(2025, 0, 1, 12);
    const story = fc.record({ zone: fc.constantFrom(...zones), hour: fc.nat(23), minute: fc.nat(59) });
    await fc.assert(
      fc.asyncProperty(story, async ({ zone, hour, minute }) => {
        const pattern = `${minute} ${hour} * * *`;
        const untilMs = from + 730 * dayMs;
        const seen = { lookMs: hourMs, lastRunMs: from };
        const runs = await follow({ zone, pattern, fromMs: from, untilMs, ...seen });
        const days = runs.map(({ slotMs }) => localDay(slotMs, zone));
        expect(new Set(days).size).toBe(days.length);
        expect(Math.abs(days.length - 730)).toBeLessThanOrEqual(1);
        for (const { slotMs, beganMs } of runs) expect(beganMs - slotMs).toBeLessThan(hourMs + minuteMs);
      }),
      { numRuns: 6 },
    );
  });

  test.each([
    ["15 2 * * *", 20, 60_000],
    ["* * * * *", 0.05, 3_000],
  ])("%s begins soon after its slot, not always in the same second", async (pattern, days, mostMs) => {
    const fromMs = Date.UTC(2026, 4, 1, 12);
    const runs = await follow({ pattern, fromMs, untilMs: fromMs + days * dayMs, lastRunMs: fromMs });
    const delays = runs.map(({ slotMs, beganMs }) => beganMs - slotMs);
    expect(Math.max(...delays)).toBeLessThanOrEqual(mostMs);
    expect(new Set(delays).size).toBeGreaterThan(10);
  });

  test("what was missed is caught up once, at once, also where a clock that was ahead dated the last run", async () => {
    const fromMs = Date.UTC(2026, 4, 10, 12);
    const story = { fromMs, untilMs: fromMs + dayMs / 2 };
    for (const lastRunMs of [fromMs - 5 * dayMs, fromMs + 5 * dayMs]) {
      const missed = await follow({ ...story, lastRunMs });
      expect(missed.map(({ beganMs }) => beganMs - fromMs)).toEqual([0]);
    }
    expect(await follow({ ...story, lastRunMs: fromMs - 60_000 })).toEqual([]);
  });

  // Fault: clock | the machine sleeps for three days | the scheduler's clock | one run when it wakes
  // Fault: clock | the clock is put back by an hour | the scheduler's clock | no run is repeated
  test.each([
    ["a machine that sleeps three days wakes to one run", dayMs, 3 * dayMs, [0, 4, 4, 5]],
    ["a clock put back by an hour repeats nothing", 12.5 * hourMs, -hourMs, [0, 1, 2, 3, 4, 5]],
  ])("%s", async (_, atMs, byMs, days) => {
    const fromMs = Date.UTC(2026, 4, 10, 12);
    let hasJumped = false;
    const jump = (nowMs: number) => {
      if (hasJumped || nowMs < fromMs + atMs) return nowMs;
      hasJumped = true;
      return nowMs + byMs;
    };
    const runs = await follow({ fromMs, untilMs: fromMs + 6 * dayMs, jump, lastRunMs: fromMs });
    expect(runs.map(({ beganMs }) => Math.floor((beganMs - fromMs) / dayMs))).toEqual(days);
  });
});

const bratislava = "Europe/Bratislava";

function iso(atMs: number | null): string | null {
  return atMs === null ? null : new Date(atMs).toISOString();
}

function following(pattern: string, from: string, count: number): (string | null)[] {
  const slots = parseCronSchedule(pattern, bratislava);
  let atMs = Date.parse(from);
  return Array.from({ length: count }, () => iso((atMs = slots.after(atMs) ?? Number.NaN)));
}

test("a pattern of six fields begins with seconds", () => {
  const slots = following("*/20 15 2 * * *", "2026-07-01T00:14:30Z", 4);
  expect(slots.map((slot) => slot?.slice(11, 19))).toEqual(["00:15:00", "00:15:20", "00:15:40", "00:15:00"]);
  const schedule = parseCronSchedule("*/20 15 2 * * *", bratislava);
  expect(iso(schedule.before(Date.parse("2026-07-01T00:15:39.900Z")))).toBe("2026-07-01T00:15:20.000Z");
});

describe("slots of a nightly pattern", () => {
  // Fault: clock | a time of the schedule that does not exist in spring | the cron pattern | once, right after the gap
  // Fault: clock | a time of the schedule that is there twice in autumn | the cron pattern | once
  test.each([
    ["one that spring leaves out, after the gap", "2026-03-28", "2026-03-29T01:00", "2026-03-30T00:15"],
    ["one that autumn has twice", "2026-10-24", "2026-10-25T00:15", "2026-10-26T01:15"],
  ])("a time comes once: %s", (_, day, ...slots) => {
    const expected = slots.map((slot) => `${slot}:00.000Z`);
    expect(following("15 2 * * *", `${day}T12:00:00Z`, 2)).toEqual(expected);
  });

  test("the last one is the moment itself when it is one", () => {
    const slots = parseCronSchedule("15 2 * * *", bratislava);
    const slotMs = Date.parse("2026-11-21T01:15:00Z");
    expect(iso(slots.before(slotMs))).toBe("2026-11-21T01:15:00.000Z");
    expect(iso(slots.before(slotMs + 999))).toBe("2026-11-21T01:15:00.000Z");
    expect(iso(slots.before(slotMs - 1))).toBe("2026-11-20T01:15:00.000Z");
    expect(iso(slots.after(slotMs - 1))).toBe("2026-11-21T01:15:00.000Z");
    expect(iso(slots.after(slotMs))).toBe("2026-11-22T01:15:00.000Z");
  });

  test("a day that never comes gives none", () => {
    const slots = parseCronSchedule("0 0 30 2 *", "UTC");
    expect([slots.before(Date.UTC(2026, 1, 1)), slots.after(Date.UTC(2026, 1, 1))]).toEqual([null, null]);
  });
});

test.each([
  ["every night", "15 2 * * *", "2026-11-18T12:00:00Z", 26],
  ["every ten minutes", "*/10 * * * *", "2026-11-18T12:00:00Z", 26],
  ["over a weekend without runs", "0 2 * * 1-5", "2026-11-21T12:00:00Z", 74],
  ["on Monday, while its run is made", "0 2 * * 1-5", "2026-11-23T03:00:00Z", 74],
  ["on Tuesday", "0 2 * * 1-5", "2026-11-24T12:00:00Z", 26],
  ["once a week", "0 2 * * 0", "2026-11-25T12:00:00Z", 170],
  ["by cron, as if it were every night", null, "2026-11-25T12:00:00Z", 26],
])("what was read stays current until the next run had its time: %s", (_, pattern, now, hours) => {
  const schedule = pattern === null ? null : parseCronSchedule(pattern, "UTC");
  expect(freshForMs(schedule, Date.parse(now))).toBe(hours * hourMs);
});
