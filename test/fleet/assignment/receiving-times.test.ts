import { expect, test } from "vitest";
import { hourMs } from "../../../src/base/clock.ts";
import { reasonForRun } from "../../../src/host/run-scheduler.ts";
import { UptimeLog } from "../../../src/state/uptime-log.ts";
import { openShop } from "../../support/mirror/mirror.ts";

const lost = "events may have been lost while no deliveries were received";

/** Of the fleet: hours ago at which receivers began and ended to receive, and at which the company joined. */
test.each<[string, readonly [fromHours: number, toHours: number][], number, string | null]>([
  ["while receivers were up: nothing is lost", span(200, 100, 99.99, 0), 1_000, null],
  ["while every receiver was down: events may be lost", span(200, 10, 0.1, 0), 1_000, lost],
  ["while they were down shorter than the service tries: nothing is lost", span(200, 6, 5.5, 0), 1_000, null],
  ["before it joined the fleet: they received nothing of it", span(200, 0), 0.5, lost],
  ["half an hour before it joined: nothing is lost", span(200, 0), 9.5, null],
])("nobody held a company for ten hours, %s", async (_, times, joinedHours, reason) => {
  const nowMs = Date.now();
  const ago = (hours: number) => nowMs - hours * hourMs;
  const spans = times.map(([from, to]) => ({ startedMs: ago(from), seenMs: ago(to) }));
  const uptime = new UptimeLog((await openShop()).db);
  uptime.merge([{ startedMs: nowMs - 12 * hourMs, seenMs: nowMs - 10 * hourMs }]);
  uptime.merge(spans, nowMs - joinedHours * hourMs);
  expect(reasonForRun(true, uptime.spans(), nowMs - 10.5 * hourMs, nowMs)).toBe(reason);
});

function span(...hours: number[]): [number, number][] {
  return hours.flatMap((from, at) => (at % 2 === 0 ? [[from, hours[at + 1] ?? 0] as [number, number]] : []));
}
