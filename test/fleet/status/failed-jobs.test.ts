import { expect, onTestFinished, test } from "vitest";
import { silentLog } from "../../../src/base/logger.ts";
import { JobEngine } from "../../../src/fleet/jobs/job-engine.ts";
import { fleetStatusOutcome, readFleetStatus } from "../../../src/fleet/status/read-fleet-status.ts";
import { changesUpTo, openFleet, snapshotOf, type Fleet } from "../../support/fleet/fleet.ts";
import { healthyFacts } from "../../support/fleet/snapshot-facts.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";

/** A fleet with a worker, and a job of `acme`, taken by it; `published` makes a snapshot of `acme`, taken so long ago. */
async function takenJob() {
  const fleet = await openFleet();
  const { postgres } = fleet;
  await fleet.nodes.register({ node: "node-1", version: "1.2.3", role: "all", held: 2, capacity: 50 });
  const engine = await JobEngine.start({ postgres, log: silentLog });
  onTestFinished(() => engine.stop());
  await published(fleet, 3_600_000);
  await engine.send("run", "acme");
  const take = async () => {
    const [job] = await engine.fetch("run", 1);
    if (!job) throw new Error("there is no job");
    return job;
  };
  const status = () => readFleetStatus({ postgres, maxAgeMs: null });
  return { fleet, engine, take, status };
}

async function published(fleet: Fleet, agoMs = 0): Promise<void> {
  const takenAtMs = Date.now() - agoMs;
  const facts = healthyFacts({}, takenAtMs);
  const owner = await fleet.owned("acme");
  await fleet.snapshots.publish(owner, { ...snapshotOf(3), takenAtMs, facts }, changesUpTo(3));
  await fleet.owners.release(owner);
}

describeWithPostgres("the status of a fleet shows a company", () => {
  test("whose job was set aside, until a snapshot shows that it is worked on", async () => {
    const { fleet, engine, take, status } = await takenJob();
    await fleet.postgres.query("UPDATE pgboss.job SET retry_limit = 0 WHERE name = 'run'");
    await engine.fail(await take(), "the disk is full", 0);
    const found = await status();
    expect(found.companies["acme"]?.problems).toMatchObject([
      { kind: "jobs_set_aside", message: expect.stringContaining("the disk is full") as string },
    ]);
    expect(fleetStatusOutcome(found)).toBe("difference");
    await published(fleet);
    expect(fleetStatusOutcome(await status())).toBe("complete");
  });

  // Fault: fleet | the published snapshot of a company is damaged | `fleet status` | exit 1 with the reason and when it is tried again, until it succeeds
  test("that no worker can hold, with the reason and when it is tried again", async () => {
    const { fleet, engine, take, status } = await takenJob();
    await engine.fail(await take(), "the snapshot is damaged", 90_000);
    const found = await status();
    const message = expect.stringMatching(
      /the snapshot is damaged \(tried again in 1m (?:30|2\d)s\)$/,
    ) as string;
    expect(found.companies["acme"]?.problems).toMatchObject([{ kind: "job_failed", message }]);
    expect(fleetStatusOutcome(found)).toBe("difference");
    await published(fleet);
    expect(fleetStatusOutcome(await status())).toBe("complete");
  });

  test("without a problem whose node died: its job is taken by another one within seconds", async () => {
    const { fleet, take, status } = await takenJob();
    await take();
    await fleet.postgres.query(
      `UPDATE pgboss.job SET state = 'retry', output = '{ "value": { "message": "job heartbeat timeout" } }'
       WHERE name = 'run'`,
    );
    expect((await status()).companies["acme"]?.problems).toEqual([]);
  });
});
