import { readFileSync, writeFileSync, existsSync } from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { MirrorError } from "../../../src/base/errors.ts";
import { PostgresError } from "../../../src/fleet/postgres/postgres-error.ts";
import { NodesTable } from "../../../src/fleet/postgres/tables/heartbeats.ts";
import { waitForPostgres } from "../../../src/cli/commands/fleet/open-fleet.ts";
import { jsonLines } from "../../support/program/cli.ts";
import { tempFolder } from "../../support/temporary-folder.ts";
import { connectNode, describeWithPostgres, ownServer } from "../../support/postgres/databases.ts";
import { portToKeep, startProcess } from "../../support/program/serve-process.ts";
import { aTcpRelay } from "../../support/fleet/tcp-relay.ts";
import { jumpingClock, recordingLog } from "../../support/terminal/terminal.ts";
import { eventually } from "../../support/eventually.ts";
import { aWorkedFleet, little, startWorker, type FleetWorker } from "../../support/fleet/worker.ts";
import { wholeRuns } from "../../support/company/served-company.ts";
import { s3Env, startS3 } from "../../support/export/s3-server.ts";

/** A worker that is being started, on a port of its own. Its pages have a name, so that others may ask for them. */
async function startingWorker(databaseUrl: string, role = "all") {
  const folder = tempFolder();
  const snapshots = path.join(folder, "snapshots");
  const fleet = { postgres: "${env:DATABASE_URL}", snapshots, node: "one" };
  const config = { data_dir: "data", fleet, serve: { hosts: ["fleet.example.com"] } };
  writeFileSync(path.join(folder, "config.yaml"), JSON.stringify(config));
  const port = await portToKeep();
  const args = ["worker", "--json", "--log-format", "json", "--role", role, "--listen", `127.0.0.1:${port}`];
  const started = startProcess(args, { folder, env: { DATABASE_URL: databaseUrl } });
  onTestFinished(() => void started.child.kill("SIGKILL"));
  const until = (text: string) =>
    eventually(
      () => started.stderr().includes(text),
      () => `"${text}" in ${started.stderr()}`,
    );
  const url = `http://127.0.0.1:${port}`;
  const statusOf = async (page: string) => (await fetch(url + page)).status;
  const isListening = () => started.stdout().includes("\n");
  return { ...started, folder, url, until, statusOf, isListening };
}

function urlAt(port: number): string {
  return `postgres://postgres@127.0.0.1:${port}/postgres`;
}

describeWithPostgres("a worker that starts", () => {
  // Fault: network | Postgres is away while a worker starts | a server that is started later | it waits, alive and not ready, says so, and starts when Postgres answers
  test.each(["all", "receive"])(
    "while Postgres is away (role %s) waits for it, alive and not ready, then works, and shows companies for the token alone that it made",
    async (role) => {
      const server = await ownServer();
      const url = await server.createDatabase();
      await server.stop();
      const worker = await startingWorker(url, role);
      await worker.until("waiting for Postgres");
      expect(await worker.statusOf("/healthz")).toBe(200);
      expect(await worker.statusOf("/readyz")).toBe(503);
      const delivery = { headers: { "webhook-id": "a" }, method: "POST", body: "{}" };
      expect((await fetch(`${worker.url}/webhooks/acme`, delivery)).ok).toBe(false);
      await server.start();
      await eventually(worker.isListening, "a worker that started");
      await eventually(async () => (await worker.statusOf("/readyz")) === 200, "a worker that is ready");
      const nodes = new NodesTable(await connectNode(url));
      expect(await nodes.list()).toMatchObject([{ node: "one", role }]);
      const file = path.join(worker.folder, "data", "page-token");
      expect(jsonLines(worker.stdout())).toMatchObject([{ page_token_file: file }]);
      expect(await worker.statusOf("/")).toBe(403);
      const Authorization = `Bearer ${readFileSync(file, "utf8").trim()}`;
      expect((await fetch(worker.url, { headers: { Authorization } })).status).toBe(200);
      worker.child.kill("SIGTERM");
      expect((await worker.ended).code).toBe(0);
      expect(await nodes.list()).toEqual([]);
    },
  );

  test("ends at once by a signal while it waits, also for a Postgres that does not answer at all", async () => {
    const server = await ownServer();
    const relay = await aTcpRelay(server.port);
    relay.silence();
    const silent = await startingWorker(urlAt(relay.port));
    const refused = await startingWorker(urlAt(1));
    await refused.until("waiting for Postgres");
    await silent.until("waiting for Postgres");
    silent.child.kill("SIGTERM");
    refused.child.kill("SIGINT");
    expect([(await silent.ended).code, (await refused.ended).code]).toEqual([0, 130]);
  });
});

const away = new PostgresError("Postgres at host does not answer", { retryable: true });

test("the wait for Postgres is ten minutes at most, logged less and less often, and ends at once with what waiting does not help", async () => {
  const clock = jumpingClock();
  const { log } = recordingLog();
  const linesMs: number[] = [];
  const noting = { ...log, warn: () => void linesMs.push(clock.nowMs()) };
  const wait = { clock, log: noting, signal: new AbortController().signal };
  await expect(waitForPostgres(wait, () => Promise.reject(away))).rejects.toBe(away);
  const waitedMs = clock.nowMs();
  expect(waitedMs).toBeGreaterThan(590_000);
  expect(waitedMs).toBeLessThanOrEqual(600_000);
  const gaps = linesMs.slice(1).map((ms, i) => ms - (linesMs[i] ?? 0));
  expect(linesMs[0]).toBe(0);
  expect(gaps[0]).toBeLessThan(gaps.at(-1) ?? 0);
  expect(Math.max(...gaps)).toBeLessThan(60_000);
  expect(linesMs.length).toBeLessThan(30);

  const refused = new MirrorError("database", "password authentication failed");
  await expect(waitForPostgres(wait, () => Promise.reject(refused))).rejects.toBe(refused);
  expect(clock.nowMs()).toBe(waitedMs);
  const answers = [away, away];
  const third = () => (answers.pop() ? Promise.reject(away) : Promise.resolve("open"));
  await expect(waitForPostgres(wait, third)).resolves.toBe("open");
});

/** Ends the worker as a rollout does, which kills it after 30 s. Its own deadline is 23 s: a busy machine takes longer. */
async function expectEnds(worker: FleetWorker): Promise<void> {
  const sentMs = performance.now();
  const { code } = await worker.end("SIGTERM");
  expect(code).toBe(0);
  expect(performance.now() - sentMs).toBeLessThan(30_000);
}

describeWithPostgres("SIGTERM ends a worker before the 30 s that it is given are over", () => {
  // Fault: network | Postgres is gone or silent when a worker is terminated | a stopped server, a silent relay | it ends by itself, in 30 s
  test.each(["stopped", "silent"])("while Postgres is %s", async (how) => {
    const server = await ownServer();
    const relay = await aTcpRelay(server.port);
    const fleet = await aWorkedFleet({ records: 3 }, await server.createDatabase());
    await fleet.add("acme", little);
    const DATABASE_URL = fleet.url.replace(`:${server.port}/`, `:${relay.port}/`);
    const worker = await startWorker({ ...fleet, secrets: { ...fleet.secrets, DATABASE_URL } }, "one");
    await eventually(() => wholeRuns(worker.company) === 1, "a first run");
    if (how === "stopped") await server.stop();
    else relay.silence();
    await expectEnds(worker);
  });

  // Fault: network | the service answers no request any more when a worker is terminated | a proxy before the service | it ends by itself, in 30 s, and the company is released
  test("while the service answers nothing: the company is released", async () => {
    const fleet = await aWorkedFleet({ records: 3 });
    const { proxy } = fleet.company;
    proxy.obstruct(({ path: asked }) => (asked.startsWith("/whoami") ? undefined : "hang"));
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
