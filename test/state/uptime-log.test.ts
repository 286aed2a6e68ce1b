import { describe, expect } from "vitest";
import { heartbeatMs, UptimeLog } from "../../src/state/uptime-log.ts";
import { test } from "../support/mirror/shop-test.ts";
import { rows } from "../support/mirror/store.ts";

const t0 = Date.UTC(2026, 10, 21);

test("a span grows with each heartbeat and is closed when the daemon drains", ({ mirror: { db } }) => {
  const log = new UptimeLog(db);
  expect(log.beat(t0)).toBe(false);
  expect(log.beat(t0 + heartbeatMs)).toBe(false);
  log.end(t0 + heartbeatMs + 5);
  expect(rows({ db }, "SELECT started_ms, seen_ms, ended FROM _receiver")).toEqual([
    { started_ms: t0, seen_ms: t0 + heartbeatMs + 5, ended: "drained" },
  ]);
});

// Fault: process | a daemon that was killed | the uptime log | its time ends with its last heartbeat
test("a killed span ends with its last heartbeat; the next process has its own", ({ mirror: { db } }) => {
  new UptimeLog(db).beat(t0);
  const next = new UptimeLog(db);
  expect(next.beat(t0 + 3_600_000)).toBe(false);
  expect(next.spans()).toEqual([
    { startedMs: t0, seenMs: t0 },
    { startedMs: t0 + 3_600_000, seenMs: t0 + 3_600_000 },
  ]);
});

// Fault: clock | the machine slept, or its clock was set back | the uptime log | a gap, so that a run follows
test("a machine that slept, or a clock that was set back, is a gap", ({ mirror: { db } }) => {
  const log = new UptimeLog(db);
  log.beat(t0);
  expect(log.beat(t0 + 5 * 3_600_000)).toBe(true);
  expect(log.beat(t0 + 5 * 3_600_000 + heartbeatMs)).toBe(false);
  expect(log.beat(t0)).toBe(true);
  expect(log.spans()).toHaveLength(3);
});

test("spans of long ago are removed", ({ mirror: { db } }) => {
  new UptimeLog(db).beat(t0 - 40 * 86_400_000);
  const log = new UptimeLog(db);
  log.beat(t0);
  expect(log.spans()).toEqual([{ startedMs: t0, seenMs: t0 }]);
});

// Fault: webhook | every delivery is refused from some moment on, over a restart | the uptime log | what was noted since then is taken back; the time counts as a gap
test("a time of refusals is taken back, over a restart too; the next is a new span", ({ mirror: { db } }) => {
  const before = new UptimeLog(db);
  before.beat(t0);
  const log = new UptimeLog(db);
  log.beat(t0 + heartbeatMs);
  log.beat(t0 + 2 * heartbeatMs);
  log.refuse(t0 + heartbeatMs + 5);
  expect(log.beat(t0 + 4 * heartbeatMs)).toBe(false);
  log.refuse(t0 + 3 * heartbeatMs);
  const spans = "SELECT started_ms - ? AS from_ms, seen_ms - ? AS to_ms, ended FROM _receiver";
  expect(db.prepare(spans).all(t0, t0)).toEqual([
    { from_ms: 0, to_ms: 0, ended: null },
    { from_ms: heartbeatMs, to_ms: heartbeatMs + 5, ended: "refused" },
    { from_ms: 4 * heartbeatMs, to_ms: 4 * heartbeatMs, ended: "refused" },
  ]);
});

describe("times in which other processes received", () => {
  const hour = 3_600_000;
  const span = (fromHours: number, toHours: number) => ({
    startedMs: t0 + fromHours * hour,
    seenMs: t0 + toHours * hour,
  });

  test("are taken over once and only grow; a new one after the first call is a gap", ({ mirror: { db } }) => {
    const log = new UptimeLog(db);
    const first = [span(0, 1), span(2, 3)];
    expect(log.merge(first)).toBe(false);
    expect(log.spans()).toEqual(first);
    const longer = [span(0, 1), span(2, 4)];
    expect(log.merge(longer)).toBe(false);
    expect(log.spans()).toEqual(longer);
    const gap = [...longer, span(6, 7)];
    expect(log.merge(gap)).toBe(true);
    expect(log.merge(gap)).toBe(false);
    // What was read earlier makes none shorter, and what is listed no more stays.
    expect(log.merge([span(2, 3)])).toBe(false);
    expect(log.spans()).toEqual(gap);
    // The next owner of the mirror knows them, and its first call finds no gap.
    const next = new UptimeLog(db);
    expect(next.merge([...gap, span(9, 10)])).toBe(false);
    expect(next.spans()).toEqual([...gap, span(9, 10)]);
  });

  test("of long ago are removed with the next change, by the newest of them", ({ mirror: { db } }) => {
    const log = new UptimeLog(db);
    log.merge([span(0, 1)]);
    log.merge([span(24 * 40, 24 * 40 + 1)]);
    expect(log.spans()).toEqual([span(24 * 40, 24 * 40 + 1)]);
    expect(log.merge([])).toBe(false);
    expect(log.spans()).toHaveLength(1);
  });
});
