import { expect, test } from "vitest";
import { readFleetTotals } from "../../../src/fleet/postgres/tables/fleet-view.ts";
import { createFleetMetrics } from "../../../src/fleet/status/fleet-metrics.ts";
import { changesUpTo, deliveries, openFleet, snapshotOf } from "../../support/fleet/fleet.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";

describeWithPostgres("the sums of a fleet for metrics", () => {
  test("count companies that are held, lost, waiting and unattended", async () => {
    const fleet = await openFleet();
    await fleet.owned("held");
    await fleet.owned("lost");
    await fleet.expire("lost");
    await fleet.add("waiting");
    await fleet.inbox.add("waiting", deliveries("e1"));
    await fleet.inbox.add("held", deliveries("e1"));
    await fleet.postgres.query(
      "UPDATE fintoro_mirror.inbox SET received_at = now() - interval '90 s' WHERE company = 'waiting'",
    );
    const owner = await fleet.owned("drained");
    await fleet.inbox.add("drained", deliveries("old"));
    await fleet.snapshots.publish(owner, snapshotOf(1, 1), changesUpTo(1));
    await fleet.postgres.query(
      "UPDATE fintoro_mirror.inbox SET received_at = now() - interval '1 hour' WHERE company = 'drained'",
    );
    await fleet.inbox.add("drained", deliveries("new"));
    await fleet.add("removed");
    await fleet.inbox.add("removed", deliveries("e1"));
    await fleet.companies.remove("removed");
    const { oldestWaitingMs, ...counts } = await readFleetTotals(fleet.postgres);
    expect(counts).toEqual({ companies: 4, held: 2, ended: 1, waiting: 3, unattended: 1 });
    expect(oldestWaitingMs).toBeGreaterThanOrEqual(90_000);
    // What was drained had come an hour ago.
    expect(oldestWaitingMs).toBeLessThan(3_600_000);
  });

  test("name no company, are read again after ten seconds only, and left out while Postgres is away", async () => {
    const fleet = await openFleet();
    await fleet.owned("secret-name");
    let nowMs = 0;
    const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs, sleep: () => Promise.resolve() };
    const metrics = createFleetMetrics(fleet.postgres, clock);
    const first = (await metrics()).join("\n");
    expect(first).toContain('fintoro_mirror_fleet_companies{state="held"} 1\n');
    expect(first).not.toContain("secret-name");
    await fleet.add("another");
    nowMs = 9_000;
    expect((await metrics()).join("\n")).toBe(first);
    nowMs = 10_000;
    expect((await metrics()).join("\n")).toContain('fintoro_mirror_fleet_companies{state="idle"} 1\n');
    await fleet.postgres.close();
    nowMs = 20_000;
    expect(await metrics()).toEqual([]);
  });
});
