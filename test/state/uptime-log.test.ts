import { expect, test } from "vitest";
import { heartbeatMs, UptimeLog } from "../../src/state/uptime-log.ts";
import { openShop } from "../support/mirror.ts";
import { rows } from "../support/store.ts";

const t0 = Date.UTC(2026, 10, 21);

test("a span grows with each heartbeat and is closed when the daemon drains", async () => {
  const { db } = await openShop();
  const presence = new UptimeLog(db);
  expect(presence.beat(t0)).toBe(false);
  expect(presence.beat(t0 + heartbeatMs)).toBe(false);
  presence.end(t0 + heartbeatMs + 5);
  expect(rows({ db }, "SELECT started_ms, seen_ms, ended FROM _receiver")).toEqual([
    { started_ms: t0, seen_ms: t0 + heartbeatMs + 5, ended: "drained" },
  ]);
});

test("one that was killed ends with its last heartbeat; the next life has its own", async () => {
  const { db } = await openShop();
  new UptimeLog(db).beat(t0);
  const next = new UptimeLog(db);
  expect(next.beat(t0 + 3_600_000)).toBe(false);
  expect(next.spans()).toEqual([
    { startedMs: t0, seenMs: t0 },
    { startedMs: t0 + 3_600_000, seenMs: t0 + 3_600_000 },
  ]);
});

test("a machine that slept, or a clock that was put back, is an absence", async () => {
  const { db } = await openShop();
  const presence = new UptimeLog(db);
  presence.beat(t0);
  expect(presence.beat(t0 + 5 * 3_600_000)).toBe(true);
  expect(presence.beat(t0 + 5 * 3_600_000 + heartbeatMs)).toBe(false);
  expect(presence.beat(t0)).toBe(true);
  expect(presence.spans()).toHaveLength(3);
});

test("spans of long ago are forgotten", async () => {
  const { db } = await openShop();
  new UptimeLog(db).beat(t0 - 40 * 86_400_000);
  const presence = new UptimeLog(db);
  presence.beat(t0);
  expect(presence.spans()).toEqual([{ startedMs: t0, seenMs: t0 }]);
});
