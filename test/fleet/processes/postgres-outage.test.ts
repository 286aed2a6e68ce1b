import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { expectEqual } from "../../support/truth/equal.ts";
import { aWorkedFleet, startNode, type WorkedFleet } from "../../support/fleet/worker.ts";
import { describeWithPostgres, ownServer } from "../../support/postgres/databases.ts";
import { wholeRuns } from "../../support/company/served-company.ts";
import { eventually } from "../../support/eventually.ts";

type Node = Awaited<ReturnType<typeof startNode>>;

/** A node in the middle of a slow run, on a Postgres of its own. `sentMs`: when each request was sent. */
async function aNodeInARun() {
  const server = await ownServer();
  const fleet = await aWorkedFleet({ records: 40 }, await server.createDatabase());
  const sentMs: number[] = [];
  const stopSlowing = fleet.company.proxy.obstruct(async (_, passOn) => {
    sentMs.push(performance.now());
    await pause(150);
    return passOn();
  });
  await fleet.add("acme", { rate_limit: { window: "1s" } });
  const node = await startNode(fleet, "one", { times: { idleMs: 600_000 } });
  await eventually(() => sentMs.length > 20, "a run under way");
  return { server, fleet, node, sentMs, stopSlowing };
}

/** The run ends, nothing is missing, and the node holds the company until it is stopped. */
async function expectGoesOn(fleet: WorkedFleet, { company, stop }: Node, epoch: number): Promise<void> {
  await eventually(() => wholeRuns(company) === 1, "the run, ended");
  expectEqual(company);
  const [owner] = await fleet.tables.owners.ownersOf(["acme"]);
  expect(owner).toMatchObject({ node: "one", epoch, live: true });
  await stop();
  expect(await fleet.ownerOf("acme")).toBeNull();
}

describeWithPostgres("a node that holds a company", () => {
  // Fault: network | Postgres ends all connections, again and again | pg_terminate_backend for four seconds | the node keeps its company, and goes on
  // Fault: network | Postgres restarts | a server that is stopped for three seconds | the node keeps its company, and goes on
  test("keeps it while Postgres ends all its connections, again and again, and restarts", async () => {
    const { server, fleet, node, stopSlowing } = await aNodeInARun();
    const end = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'one'`;
    const endMs = performance.now() + 4_000;
    for (let ended = 0; ended <= 20 || performance.now() < endMs; await pause(100))
      ended += (await fleet.postgres.query(end)).length;
    const renewed =
      "SELECT FROM fintoro_mirror.owners WHERE expires_at > clock_timestamp() + interval '11 seconds'";
    await eventually(async () => (await fleet.postgres.query(renewed)).length > 0, "a renewal");
    await server.stop();
    await pause(3_000);
    await server.start();
    stopSlowing();
    await expectGoesOn(fleet, node, 1);
  });

  // Fault: network | Postgres is away for longer than a lease | a server that is stopped until the company is lost | no request after the lease; then the node takes the company again, and goes on
  test("loses it while Postgres is away for longer than a lease, sends nothing without it, and takes it again", async () => {
    const { server, fleet, node, sentMs, stopSlowing } = await aNodeInARun();
    await server.crash();
    const isLost = () => node.said("acme").some((text) => text.startsWith("the company is lost"));
    await eventually(isLost, "a loss");
    const lostMs = performance.now();
    await pause(2_000);
    expect(sentMs.filter((ms) => ms > lostMs)).toEqual([]);
    await server.start();
    const goesOn = "claimed: goes on from the mirror that is here";
    await eventually(() => node.said("acme").includes(goesOn), "a claim");
    stopSlowing();
    await expectGoesOn(fleet, node, 2);
  });
});
