import { existsSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { aWorkedFleet, little, startWorker, type FleetWorker } from "../../support/fleet/worker.ts";
import { tempFolder } from "../../support/temporary-folder.ts";
import { describeWithPostgres, ownServer } from "../../support/postgres/databases.ts";
import { wholeRuns } from "../../support/company/served-company.ts";
import { s3Env, startS3 } from "../../support/export/s3-server.ts";
import { aTcpRelay } from "../../support/fleet/tcp-relay.ts";
import { eventually } from "../../support/eventually.ts";

/** Ends the worker as a rollout does, which kills it after 30 s. Its own deadline is 23 s: a busy machine takes longer. */
async function expectEnds(worker: FleetWorker): Promise<void> {
  const sentMs = performance.now();
  const { code } = await worker.end("SIGTERM");
  expect(code).toBe(0);
  expect(performance.now() - sentMs).toBeLessThan(30_000);
}

/** A fleet on a Postgres of its own, behind a relay that can become silent. */
async function aRelayedFleet() {
  const server = await ownServer();
  const relay = await aTcpRelay(server.port);
  const fleet = await aWorkedFleet({ records: 3 }, await server.createDatabase());
  const url = fleet.url.replace(`:${server.port}/`, `:${relay.port}/`);
  return { server, relay, fleet: { ...fleet, secrets: { ...fleet.secrets, DATABASE_URL: url } } };
}

describeWithPostgres("SIGTERM ends a worker before the 30 s that it is given are over", () => {
  // Fault: network | Postgres is gone or silent when a worker is terminated | a stopped server, a silent relay | it ends by itself, in 30 s
  test.each(["stopped", "silent"])("while Postgres is %s", async (how) => {
    const { server, relay, fleet } = await aRelayedFleet();
    await fleet.add("acme", little);
    const worker = await startWorker(fleet, "one");
    await eventually(() => wholeRuns(worker.company) === 1, "a first run");
    if (how === "stopped") await server.stop();
    else relay.silence();
    await expectEnds(worker);
  });

  // Fault: network | the service answers no request any more when a worker is terminated | a proxy before the service | it ends by itself, in 30 s, and the company is released
  test("while the service answers nothing: the company is released", async () => {
    const fleet = await aWorkedFleet({ records: 3 });
    const { proxy } = fleet.company;
    proxy.obstruct(({ path }) => (path.startsWith("/whoami") ? undefined : "hang"));
    await fleet.add("acme", little);
    const worker = await startWorker(fleet, "one");
    await eventually(() => proxy.inFlight() > 0, "a request that hangs");
    await expectEnds(worker);
    expect(await fleet.ownerOf("acme")).toBeNull();
  });

  // Fault: network | the object store answers nothing any more when a worker is terminated | a silent relay before an S3 server | it ends by itself, in 30 s; what was not published is read again
  test("while the object store answers nothing", async () => {
    const folder = tempFolder();
    const store = await startS3(folder, "fleet");
    onTestFinished(() => store.close());
    const relay = await aTcpRelay(Number(new URL(store.url).port));
    const env = s3Env(`http://127.0.0.1:${relay.port}`);
    const fleet = await aWorkedFleet({ records: 3 });
    const stored = { ...fleet, secrets: { ...fleet.secrets, ...env } };
    const worker = await startWorker(stored, "one", { snapshots: "s3://fleet/mirrors" });
    relay.silence();
    await fleet.add("acme", little);
    await eventually(() => existsSync(worker.company.file) && wholeRuns(worker.company) === 1, "a run");
    await expectEnds(worker);
  });
});
