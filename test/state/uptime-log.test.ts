import { expect, test } from "vitest";
import { heartbeatMs, UptimeLog } from "../../src/state/uptime-log.ts";
import { openShop } from "../support/mirror.ts";
import { rows } from "../support/store.ts";

const t0 = Date.UTC(2026, 10, 21);

test("a span grows with each heartbeat and is closed when the daemon drains", async () => {
  const { db } = await openShop();
  const log = new UptimeLog(db);
  expect(log.beat(t0)).toBe(false);
  expect(log.beat(t0 + heartbeatMs)).toBe(false);
  log.end(t0 + heartbeatMs + 5);
  expect(rows({ db }, "SELECT started_ms, seen_ms, ended FROM _receiver")).toEqual([
    { started_ms: t0, seen_ms: t0 + heartbeatMs + 5, ended: "drained" },
  ]);
});

// Fault: process | a daemon that was killed | the uptime log | its time ends with its last heartbeat
test("a span that was killed ends with its last heartbeat; the next process has its own", async () => {
  const { db } = await openShop();
  new UptimeLog(db).beat(t0);
  const next = new UptimeLog(db);
  expect(next.beat(t0 + 3_600_000)).toBe(false);
  expect(next.spans()).toEqual([
    { startedMs: t0, seenMs: t0 },
    { startedMs: t0 + 3_600_000, seenMs: t0 + 3_600_000 },
  ]);
});

// Fault: clock | the machine slept, or its clock was set back | the uptime log | a gap, so that a run follows
test("a machine that slept, or a clock that was set back, is a gap", async () => {
  const { db } = await openShop();
  const log = new UptimeLog(db);
  log.beat(t0);
  expect(log.beat(t0 + 5 * 3_600_000)).toBe(true);
  expect(log.beat(t0 + 5 * 3_600_000 + heartbeatMs)).toBe(false);
  expect(log.beat(t0)).toBe(true);
  expect(log.spans()).toHaveLength(3);
});

test("spans of long ago are removed", async () => {
  const { db } = await openShop();
  new UptimeLog(db).beat(t0 - 40 * 86_400_000);
  const log = new UptimeLog(db);
  log.beat(t0);
  expect(log.spans()).toEqual([{ startedMs: t0, seenMs: t0 }]);
});

// Fault: webhook | every delivery is refused from some moment on, over a restart | the uptime log | what was noted since then is taken back; the time counts as a gap
test("a time in which deliveries are refused is taken back, over a restart too, and the next one is a span of its own", async () => {
  const { db } = await openShop();
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
