import path from "node:path";
import { readFileSync } from "node:fs";
import { onTestFinished } from "vitest";
import { manifest } from "../../../connectors/fintoro/manifest.ts";
import { systemClock, type Clock } from "../../../src/base/clock.ts";
import { selectResources } from "../../../src/cli/mirror/company-scope.ts";
import { configOfCompany } from "../../../src/fleet/config/company-document.ts";
import { JobEngine } from "../../../src/fleet/jobs/job-engine.ts";
import { openPostgres } from "../../../src/fleet/postgres/connection.ts";
import { openStore } from "../../../src/file-store/open-store.ts";
import { MirrorSnapshots } from "../../../src/fleet/snapshot/mirror-snapshots.ts";
import { alertTargets } from "../../../src/status/alerts/targets.ts";
import type { NodeParts, NodePublishing, NodeTimes } from "../../../src/fleet/assignment/node-context.ts";
import type { HostProcess } from "../../../src/daemon/daemon-context.ts";
import { performRun } from "../../../src/runs/company-run.ts";
import { FleetNode } from "../../../src/fleet/worker/fleet-node.ts";
import { fleetTables } from "../../../src/fleet/postgres/tables/fleet-tables.ts";
import { NodeLoops } from "../../../src/fleet/worker/node-loops.ts";
import type { WorkedFleet } from "./worker.ts";
import { processEnv } from "../program/process-env.ts";
import { seededRandom } from "../seeded-random.ts";
import { recordingLog } from "../terminal/terminal.ts";

const version = "test";
const readFile = (file: string) => readFileSync(file, "utf8");

/** Nobody waits longer than a moment. */
const shortTimes: Partial<NodeTimes> = {
  fetchMs: 50,
  quietFetchMs: 50,
  unattendedMs: 300,
  beatMs: 100,
  configMs: 200,
  idleMs: 600,
  fullIdleMs: 300,
  rivalMs: 500,
  failedMs: 1_000,
};

/** How a node differs from the usual one. */
interface NodeOptions {
  readonly capacity?: number;
  readonly times?: Partial<NodeTimes>;
  readonly publish?: Partial<NodePublishing>;
  readonly afterRun?: HostProcess["afterRun"];
  readonly clock?: Clock;
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
  }: NodeOptions = {},
) {
  const { log, records } = recordingLog();
  const dataDir = path.join(company.folder, name);
  const postgres = await openPostgres({ url, node: name, log });
  const engine = await JobEngine.start(postgres, log, true);
  const env = processEnv(secrets);
  const store = openStore(path.join(company.folder, "snapshots"), {
    clock: systemClock,
    env,
    onSecrets: () => undefined,
  });
  const tables = fleetTables(postgres);
  const process = { clock, random: seededRandom(3), log, version };
  const surroundings = { dataDir, env, readFile, connectors: [manifest] } as const;
  const parts: NodeParts = {
    host: {
      ...process,
      performRun,
      afterRun,
      connections: { dropped: 0 },
      onSecrets: () => undefined,
      targetsOf: (config) => alertTargets(config, { ...process, env, onSecrets: () => undefined }),
    },
    node: { name, role: "work", dataDir, capacity, snapshotEveryMs: 60_000 },
    tables,
    engine,
    snapshots: new MirrorSnapshots({ store, snapshots: tables.snapshots, clock: systemClock, log, version }),
    store,
    load: async ({ name: member, config: document }) => {
      const config = configOfCompany(member, document, surroundings);
      const [own] = config.companies;
      if (!own) throw new Error("the document names no company");
      const resources = selectResources(manifest, config.resources, []);
      return { manifest, settings: { config, company: own, resources } };
    },
    publish: {
      report: () => Promise.resolve(null),
      month: () => Promise.resolve("nothing is packed here"),
      ...publish,
    },
  };
  const node = new FleetNode(parts, new NodeLoops(systemClock, log), { ...shortTimes, ...times });
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
