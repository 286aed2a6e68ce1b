import { expect, test } from "vitest";
import { fleetStatusOutcome, readFleetStatus } from "../../../src/fleet/status/read-fleet-status.ts";
import { changesUpTo, openFleet, snapshotOf, type Fleet } from "../../support/fleet/fleet.ts";
import { healthyFacts } from "../../support/fleet/snapshot-facts.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";

/** A fleet with a worker, and a company with a snapshot that was taken an hour ago. */
async function aFleet() {
  const fleet = await openFleet();
  const { postgres } = fleet;
  await fleet.nodes.register({ node: "node-1", version: "1.2.3", role: "all", held: 2, capacity: 50 });
  await published(fleet, 3_600_000);
  const status = () => readFleetStatus(postgres, null);
  return { fleet, status };
}

async function published(fleet: Fleet, agoMs = 0): Promise<void> {
  const takenAtMs = Date.now() - agoMs;
  const facts = healthyFacts({}, takenAtMs);
  const owner = await fleet.owned("acme");
  await fleet.snapshots.publish(owner, { ...snapshotOf(3), takenAtMs, facts }, changesUpTo(3));
  await fleet.owners.release(owner);
}

describeWithPostgres("the status of a fleet shows a company", () => {
  // Fault: fleet | the published snapshot of a company is damaged | `fleet status` | exit 1 with the reason and when it is tried again, until it succeeds
  test("that no worker can hold, with the reason and when it is tried again", async () => {
    const { fleet, status } = await aFleet();
    const failure = { why: "the snapshot is damaged", pauseMs: 90_000 };
    await fleet.owners.release(await fleet.owned("acme"), 0, failure);
    const found = await status();
    const message = expect.stringMatching(
      /the snapshot is damaged \(tried again in 1m (?:30|2\d)s\)$/,
    ) as string;
    expect(found.companies["acme"]?.problems).toMatchObject([{ kind: "job_failed", message }]);
    expect(fleetStatusOutcome(found)).toBe("difference");
    await fleet.postgres.query("UPDATE fintoro_mirror.owners SET claimable_at = now()");
    await published(fleet);
    expect(fleetStatusOutcome(await status())).toBe("complete");
  });
});
