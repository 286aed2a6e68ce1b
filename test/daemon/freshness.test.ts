import { expect, test } from "vitest";
import { freshForMs } from "../../src/daemon/scheduler/freshness.ts";
import { parseCronSchedule } from "../../src/daemon/scheduler/cron-schedule.ts";

const hourMs = 3_600_000;
const at = (iso: string) => Date.parse(iso);

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
