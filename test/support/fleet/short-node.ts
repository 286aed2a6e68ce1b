import path from "node:path";
import { onTestFinished } from "vitest";
import { systemClock, type Clock } from "../../../src/base/clock.ts";
import { openNodeParts } from "../../../src/cli/commands/fleet/worker-command.ts";
import type { CommandContext } from "../../../src/cli/program/command.ts";
import { startJobEngine } from "../../../src/fleet/jobs/job-engine.ts";
import { openPostgres } from "../../../src/fleet/postgres/connection.ts";
import type { NodePublishing, NodeTimes } from "../../../src/fleet/assignment/node-context.ts";
import type { HostProcess } from "../../../src/host/host-context.ts";
import { FleetNode } from "../../../src/fleet/worker/fleet-node.ts";
import { fleetTables } from "../../../src/fleet/postgres/tables/fleet-tables.ts";
import { createNodeLoops } from "../../../src/fleet/postgres/node-loops.ts";
import type { WorkedFleet } from "./worker.ts";
import { load } from "../connector/config.ts";
import { connectorEntry } from "../program/cli.ts";
import { processEnv } from "../program/process-env.ts";
import { seededRandom } from "../seeded-random.ts";
import { recordingLog } from "../terminal/terminal.ts";

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
