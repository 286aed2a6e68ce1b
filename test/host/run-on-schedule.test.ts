import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { dayMs, type Clock } from "../../src/base/clock.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { runOnSchedule } from "../../src/host/run-scheduler.ts";
import { parseCronSchedule } from "../../src/config/cron-schedule.ts";

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
        const seen = { lookMs: 30 * 60_000, lastRunMs: from };
        const runs = await follow({ zone, pattern, fromMs: from, untilMs, ...seen });
        const days = runs.map(({ slotMs }) => localDay(slotMs, zone));
        expect(new Set(days).size).toBe(days.length);
        expect(Math.abs(days.length - 730)).toBeLessThanOrEqual(1);
        for (const { slotMs, beganMs } of runs) expect(beganMs - slotMs).toBeLessThan(31 * 60_000);
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
  test("a machine that sleeps three days wakes to one run", async () => {
    const fromMs = Date.UTC(2026, 4, 10, 12);
    let slept = false;
    const jump = (nowMs: number) => {
      if (slept || nowMs < fromMs + dayMs) return nowMs;
      slept = true;
      return nowMs + 3 * dayMs;
    };
    const runs = await follow({ fromMs, untilMs: fromMs + 6 * dayMs, jump, lastRunMs: fromMs });
    expect(runs.map(({ beganMs }) => Math.floor((beganMs - fromMs) / dayMs))).toEqual([0, 4, 4, 5]);
  });

  // Fault: clock | the clock is put back by an hour | the scheduler's clock | no run is repeated
  test("a clock put back by an hour repeats nothing", async () => {
    const fromMs = Date.UTC(2026, 4, 10, 12);
    let back = false;
    const jump = (nowMs: number) => {
      if (back || nowMs < Date.UTC(2026, 4, 11, 0, 30)) return nowMs;
      back = true;
      return nowMs - 3_600_000;
    };
    const runs = await follow({ fromMs, untilMs: fromMs + dayMs, jump, lastRunMs: fromMs });
    expect(runs).toHaveLength(1);
  });
});
