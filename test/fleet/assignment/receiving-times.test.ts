import { expect, test } from "vitest";
import { reasonForRun } from "../../../src/daemon/run-scheduler.ts";
import { createReceivingTimes } from "../../../src/fleet/postgres/tables/receiving-table.ts";
import { UptimeLog } from "../../../src/state/uptime-log.ts";
import { openFleet, type Fleet } from "../../support/fleet/fleet.ts";
import { openShop } from "../../support/mirror/mirror.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";

const hourMs = 3_600_000;
const lost = "events may have been lost while no deliveries were received";

/** Hours ago at which somebody began and ended to receive. */
type Times = readonly (readonly [fromHours: number, toHours: number])[];

/** Somebody received in these times. */
async function received(fleet: Fleet, times: Times): Promise<void> {
  for (const [from, to] of times)
    await fleet.postgres.query(
      `INSERT INTO fintoro_mirror.receiving (started_at, seen_at)
       VALUES (now() - $1::float8 * interval '1 hour', now() - $2::float8 * interval '1 hour')`,
      [from, to],
    );
}

/** Why a company needs a run that this node opens now, and that was held last, and read whole, ten hours ago. */
async function reasonAfterTenHours(fleet: Fleet, joinedHours = 1_000): Promise<string | null> {
  const nowMs = Date.now();
  const uptime = new UptimeLog((await openShop()).db);
  uptime.merge([{ startedMs: nowMs - 12 * hourMs, seenMs: nowMs - 10 * hourMs }]);
  const times = createReceivingTimes(fleet.receiving);
  await times.read();
  uptime.merge(times.spans(), nowMs - joinedHours * hourMs);
  const seesFromMs = nowMs - 10.5 * hourMs;
  return reasonForRun(true, uptime.spans(), seesFromMs, nowMs);
}

describeWithPostgres("deliveries were received when the fleet received, whoever held the company", () => {
  test("nobody held it for ten hours while receivers were up: nothing is lost", async () => {
    const fleet = await openFleet();
    await received(fleet, [
      [200, 100],
      [99.99, 0],
    ]);
    expect(await reasonAfterTenHours(fleet)).toBeNull();
  });

  test("nobody held it for ten hours while every receiver was down: events may be lost", async () => {
    const fleet = await openFleet();
    await received(fleet, [
      [200, 10],
      [0.1, 0],
    ]);
    expect(await reasonAfterTenHours(fleet)).toBe(lost);
  });

  test("all receivers were down shorter than the service tries for: nothing is lost", async () => {
    const fleet = await openFleet();
    await received(fleet, [
      [200, 6],
      [5.5, 0],
    ]);
    expect(await reasonAfterTenHours(fleet)).toBeNull();
  });

  test("receivers were up, and the company was not in the fleet yet: they received nothing of it", async () => {
    const fleet = await openFleet();
    await received(fleet, [[200, 0]]);
    expect(await reasonAfterTenHours(fleet, 0.5)).toBe(lost);
    expect(await reasonAfterTenHours(fleet, 9.5)).toBeNull();
  });
});

describeWithPostgres("the time of receiving is the beat of the receivers", () => {
  test("a company that is held takes it over while it lasts, and learns of a gap", async () => {
    const fleet = await openFleet();
    const times = createReceivingTimes(fleet.receiving);
    const uptime = new UptimeLog((await openShop()).db);
    await fleet.receiving.beat();
    await times.read();
    expect(uptime.merge(times.spans())).toBe(false);
    const [first] = uptime.spans();
    await fleet.receiving.beat();
    await times.read();
    expect(uptime.merge(times.spans())).toBe(false);
    const [longer] = uptime.spans();
    expect(longer?.startedMs).toBe(first?.startedMs);
    expect(longer?.seenMs).toBeGreaterThan(first?.seenMs ?? Infinity);
    await fleet.postgres.query("UPDATE fintoro_mirror.receiving SET seen_at = now() - interval '5 minutes'");
    await fleet.receiving.beat();
    await times.read();
    expect(uptime.merge(times.spans())).toBe(true);
    expect(uptime.spans()).toHaveLength(2);
  });

  test("times of more than thirty days ago are forgotten", async () => {
    const uptime = new UptimeLog((await openShop()).db);
    const nowMs = Date.now();
    const old = { startedMs: nowMs - 900 * hourMs, seenMs: nowMs - 800 * hourMs };
    uptime.merge([old]);
    const lately = { startedMs: nowMs - 10 * hourMs, seenMs: nowMs };
    uptime.merge([lately]);
    expect(uptime.spans()).toEqual([lately]);
  });

  test("while Postgres cannot be asked, what was read last stays", async () => {
    const fleet = await openFleet();
    await fleet.receiving.beat();
    let isAway = false;
    const spansSince = (sinceMs: number) =>
      isAway ? Promise.reject(new Error("away")) : fleet.receiving.spansSince(sinceMs);
    const times = createReceivingTimes({ spansSince });
    await times.read();
    isAway = true;
    await expect(times.read()).rejects.toThrow("away");
    expect(times.spans()).toEqual(await fleet.receiving.spansSince(0));
  });
});
