import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { onTestFinished } from "vitest";
import type { SandboxOptions } from "../../../connectors/fintoro/sandbox/sandbox.ts";
import { systemClock, type Clock } from "../../../src/base/clock.ts";
import { silentLog } from "../../../src/base/logger.ts";
import { openNodeParts } from "../../../src/cli/commands/fleet/worker-command.ts";
import type { CommandContext } from "../../../src/cli/program/command.ts";
import type { NodePublishing, NodeTimes } from "../../../src/fleet/assignment/node-context.ts";
import { startJobEngine } from "../../../src/fleet/jobs/job-engine.ts";
import { openPostgres } from "../../../src/fleet/postgres/connection.ts";
import { createNodeLoops } from "../../../src/fleet/postgres/node-loops.ts";
import { migrateFleet } from "../../../src/fleet/postgres/schema.ts";
import { fleetTables } from "../../../src/fleet/postgres/tables/fleet-tables.ts";
import { FleetNode } from "../../../src/fleet/worker/fleet-node.ts";
import type { HostProcess } from "../../../src/host/host-context.ts";
import { aCompany } from "../company/company.ts";
import { load } from "../connector/config.ts";
import { eventually } from "../eventually.ts";
import { connectNode, freshDatabase } from "../postgres/databases.ts";
import { connectorEntry, endOf, firstLine, startProgram, wholeLines } from "../program/cli.ts";
import { secret } from "../program/deliveries.ts";
import { outputOf, processEnv } from "../program/process-env.ts";
import { seededRandom } from "../seeded-random.ts";
import { recordingLog } from "../terminal/terminal.ts";

/** Companies of a sandbox that workers share. Each has a token of the sandbox; `acme` is the first one. */
export type WorkedFleet = Awaited<ReturnType<typeof aWorkedFleet>>;

export type FleetWorker = Awaited<ReturnType<typeof startWorker>>;

/**
 * Of a company's document, where the test is about something else: a run reads one list, and a new owner waits a second
 * for the requests of the one before.
 */
export const little = { resources: { include: ["clients"] }, rate_limit: { window: "1s" } };

/** No worker runs yet. `database`: its URL; a new one on the shared server where it is left out. */
export async function aWorkedFleet(options: SandboxOptions = {}, database?: string) {
  const company = await aCompany(options);
  const url = database ?? (await freshDatabase());
  const postgres = await connectNode(url, "test");
  if (database !== undefined) await migrateFleet(postgres);
  const tables = fleetTables(postgres);
  const engine = await startJobEngine(postgres, silentLog, false);
  onTestFinished(() => engine.stop());
  /** Puts a company into the fleet; `more`: keys of its document; `of`: the sandbox's company, by index. */
  const add = async (name: string, more: object = {}, of = 0) => {
    const own = { token: `\${env:TOKEN${of}}`, webhook: { secrets: ["${env:WEBHOOK_SECRET}"] } };
    const shared = { connector: "fintoro", base_url: company.proxy.baseUrl, schedule: { publish: "off" } };
    await tables.companies.put(name, { ...shared, ...more, companies: { [name]: own } });
    await engine.send("run", [name]);
  };
  const receive = (event: { readonly id: string }) =>
    tables.inbox.add("acme", [{ eventId: event.id, body: Buffer.from(JSON.stringify(event)) }]);
  /** Which node owns a company; null: none. */
  const ownerOf = async (name: string) => {
    const [owner] = await tables.owners.ownersOf([name]);
    return owner?.live ? owner.node : null;
  };
  const tokens = company.sandbox.companies.map(({ token }, index) => [`TOKEN${index}`, token]);
  const common = { DATABASE_URL: url, WEBHOOK_SECRET: secret };
  const secrets: Readonly<Record<string, string>> = { ...common, ...Object.fromEntries(tokens) };
  return { url, postgres, tables, engine, company, add, receive, ownerOf, secrets };
}

interface WorkerOptions {
  readonly capacity?: number;
  readonly reports?: string;
  /** A folder that all nodes share, or a prefix in an object store. */
  readonly snapshots?: string;
}

/** A worker of the fleet, once it listens. Its folder stays when it is started again. */
export async function startWorker(
  { company, secrets }: WorkedFleet,
  node: string,
  options: WorkerOptions = {},
) {
  const { capacity = 50, reports } = options;
  const { snapshots = path.join(company.folder, "snapshots") } = options;
  const folder = path.join(company.folder, node);
  mkdirSync(folder, { recursive: true });
  const shared = { postgres: "${env:DATABASE_URL}", snapshots, ...(reports !== undefined && { reports }) };
  const fleet = { ...shared, node, capacity, snapshot_every: "2s" };
  writeFileSync(path.join(folder, "config.yaml"), JSON.stringify({ data_dir: "data", fleet }));
  const args = ["worker", "--json", "--listen", "127.0.0.1:0"];
  const child = startProgram(args, { cwd: folder, env: secrets });
  const written = outputOf(child);
  const ended = endOf(child);
  const line = await firstLine(child);
  const { url: address } = JSON.parse(line) as { readonly url?: string };
  if (address === undefined) throw new Error(`the worker does not listen: ${line} ${written.stderr}`);
  const said = () => wholeLines(written.stderr).map(({ msg }) => String(msg));
  /** Waits for a text in its log. */
  const until = (text: string) =>
    eventually(
      () => written.stderr.includes(text),
      () => `"${text}" in ${written.stderr}`,
    );
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return ended;
  };
  const here = { ...company, file: path.join(folder, "data", "acme.db") };
  return { node, child, url: address, company: here, said, until, end };
}

/** Nobody waits longer than a moment. */
const shortTimes: Partial<NodeTimes> = {
  fetchMs: 50,
  quietFetchMs: 50,
  inboxMs: 50,
  unattendedMs: 300,
  beatMs: 100,
  configMs: 200,
  idleMs: 600,
  fullIdleMs: 300,
  rivalMs: 500,
  failedMs: 1_000,
};

interface NodeOptions {
  readonly capacity?: number;
  readonly times?: Partial<NodeTimes>;
  readonly publish?: Partial<NodePublishing>;
  readonly afterRun?: HostProcess["afterRun"];
  readonly clock?: Clock;
  readonly snapshotEvery?: string;
  /** A folder. @default none: nothing is published, and only `afterRun` follows a run */
  readonly reports?: string;
}

/** A node in this process; its companies' files are in a folder of its own. Stopped with the test. */
export async function startNode(
  { url, company, secrets }: WorkedFleet,
  name: string,
  {
    capacity = 50,
    times = {},
    publish = {},
    afterRun = () => Promise.resolve(null),
    clock = systemClock,
    snapshotEvery = "60s",
    reports,
  }: NodeOptions = {},
) {
  const { log, records } = recordingLog();
  const dataDir = path.join(company.folder, name);
  const env = processEnv(secrets);
  const snapshots = path.join(company.folder, "snapshots");
  const places = { snapshots, ...(reports !== undefined && { reports }) };
  const fleet = { postgres: "${env:DATABASE_URL}", ...places, capacity, snapshot_every: snapshotEvery };
  const { config } = load(JSON.stringify({ data_dir: dataDir, fleet }), { env, forFleet: true });
  const postgres = await openPostgres(url, name, log);
  const engine = await startJobEngine(postgres, log, true);
  const { signal } = new AbortController();
  const random = seededRandom(3);
  const process = { clock, random, log, signal, env, version: "test", onSecrets: () => undefined };
  // Only what a node needs of a command.
  const context = { ...process, connectors: [connectorEntry()] } as unknown as CommandContext;
  const tables = fleetTables(postgres);
  const parts = await openNodeParts(context, config, { name, role: "work" }, tables, engine, { dropped: 0 });
  const given = { ...parts, host: { ...parts.host, afterRun }, publish: { ...parts.publish, ...publish } };
  const node = new FleetNode(given, createNodeLoops(systemClock, log), { ...shortTimes, ...times });
  await node.start();
  let stopped: Promise<void> | null = null;
  const stop = () =>
    (stopped ??= node
      .stop()
      .then(() => engine.stop())
      .then(() => postgres.close()));
  onTestFinished(stop);
  const said = (member: string) =>
    records()
      .filter((record) => record["company"] === member)
      .map(({ msg }) => String(msg));
  const here = { ...company, file: path.join(dataDir, "acme.db") };
  return { node, said, records, stop, company: here };
}
