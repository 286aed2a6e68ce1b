import { describe, expect, test } from "vitest";
import { hourMs } from "../../src/base/clock.ts";
import { freshForMs, parseCronSchedule } from "../../src/config/cron-schedule.ts";

const bratislava = "Europe/Bratislava";

function iso(atMs: number | null): string | null {
  return atMs === null ? null : new Date(atMs).toISOString();
}

/** The next so many slots from a moment on. */
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
  test("in spring a time that does not exist comes once, right after the gap", () => {
    expect(following("15 2 * * *", "2026-03-28T12:00:00Z", 2)).toEqual([
      "2026-03-29T01:00:00.000Z",
      "2026-03-30T00:15:00.000Z",
    ]);
  });

  // Fault: clock | a time of the schedule that is there twice in autumn | the cron pattern | once
  test("in autumn a time that is there twice comes once", () => {
    expect(following("15 2 * * *", "2026-10-24T12:00:00Z", 2)).toEqual([
      "2026-10-25T00:15:00.000Z",
      "2026-10-26T01:15:00.000Z",
    ]);
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

const at = (text: string) => Date.parse(text);

test.each([
  ["every night", "15 2 * * *", "2026-11-18T12:00:00Z", 26],
  ["every ten minutes", "*/10 * * * *", "2026-11-18T12:00:00Z", 26],
  ["over a weekend without runs", "0 2 * * 1-5", "2026-11-21T12:00:00Z", 74],
  ["on Monday, while its run is made", "0 2 * * 1-5", "2026-11-23T03:00:00Z", 74],
  ["on Tuesday", "0 2 * * 1-5", "2026-11-24T12:00:00Z", 26],
  ["once a week", "0 2 * * 0", "2026-11-25T12:00:00Z", 170],
])("what was read stays current until the next run had its time: %s", (_, pattern, now, hours) => {
  expect(freshForMs(parseCronSchedule(pattern, "UTC"), at(now))).toBe(hours * hourMs);
});

test("without a schedule of its own a day and two hours count, as for a nightly run by cron", () => {
  expect(freshForMs(null, at("2026-11-25T12:00:00Z"))).toBe(26 * hourMs);
});
