import { readFileSync } from "node:fs";
import { MirrorError } from "../../../base/errors.ts";
import type { Config } from "../../../config/config.ts";
import { mirrorFiles } from "../../../config/mirror-files.ts";
import type { DaemonContext } from "../../../daemon/daemon-context.ts";
import { proveStore } from "../../../file-store/file-store.ts";
import { openStore } from "../../../file-store/open-store.ts";
import { configOfCompany } from "../../../fleet/config/company-document.ts";
import type { JobEngine } from "../../../fleet/jobs/job-engine.ts";
import type { Postgres } from "../../../fleet/postgres/connection.ts";
import { FleetCompanies } from "../../../fleet/receiver/fleet-companies.ts";
import { MirrorSnapshots } from "../../../fleet/snapshot/mirror-snapshots.ts";
import { storedMark } from "../../../fleet/snapshot/timeline-mark.ts";
import { withReports } from "../../../fleet/reports/report-files.ts";
import { fleetTables } from "../../../fleet/postgres/tables/fleet-tables.ts";
import { FleetNode } from "../../../fleet/worker/fleet-node.ts";
import type { NodeLoops } from "../../../fleet/worker/node-loops.ts";
import { signedForm } from "../../../webhook/ingest/delivery.ts";
import type { ConnectionCounts } from "../../../server/connections.ts";
import { selectResources } from "../../mirror/selected-resources.ts";
import type { CommandContext, Connector } from "../../program/command.ts";
import { createAfterRun } from "../../runs/after-run-process.ts";
import { fleetOf } from "./open-fleet.ts";
import { reportPublisher } from "./open-reports.ts";

interface NodeOptions {
  readonly name: string;
  readonly role: "all" | "work";
  readonly loops: NodeLoops;
  readonly connections: ConnectionCounts;
  readonly postgres: Postgres;
  readonly engine: JobEngine;
}

/**
 * Opens what holds companies, and proves that it can publish them.
 *
 * @throws MirrorError those of the store
 */
export async function openNode(
  context: CommandContext,
  config: Config,
  { name, role, loops, connections, postgres, engine }: NodeOptions,
): Promise<FleetNode> {
  const { dataDir } = config;
  const fleet = fleetOf(config);
  const openProven = async (key: "snapshots" | "reports", address: string) => {
    const opened = openStore(address, context);
    await proveStore(opened, `fleet.${key}`, name, context.signal);
    return opened;
  };
  const store = await openProven("snapshots", fleet.snapshots);
  const reports = fleet.reports === null ? null : await openProven("reports", fleet.reports);
  const tables = fleetTables(postgres);
  const { clock, log, version, env, knownConnectors: connectors } = context;
  const surroundings = { dataDir, env, readFile, connectors };
  return new FleetNode({
    process: context,
    daemonOf: createDaemonOf(context, connections, createAfterRun(context)),
    postgres,
    tables,
    engine,
    snapshots: new MirrorSnapshots({ store, snapshots: tables.snapshots, clock, log, version }),
    storedMark: storedMark(store),
    configOf: (company, document) =>
      withReports(configOfCompany(company, document, surroundings), company, reports !== null),
    publishReport: reports ? reportPublisher(context, reports, tables) : () => Promise.resolve(null),
    node: name,
    dataDir,
    role,
    loops,
    capacity: fleet.capacity,
    snapshotEveryMs: fleet.snapshotEveryMs,
  });
}

/** What companies are held with, by the connector of their config: each is loaded once. */
function createDaemonOf(
  context: CommandContext,
  connections: ConnectionCounts,
  afterRun: DaemonContext["afterRun"],
): (config: Config) => Promise<DaemonContext> {
  const { clock, random, log, version, keepSecret } = context;
  return async ({ connector }) => {
    const { manifest } = await loadConnector(context, connector);
    const resourcesOf = (one: Config) => selectResources(manifest, one.resources, []);
    const process = { clock, random, log, version };
    const counted = { connections, strayRefusals: {} };
    return {
      ...process,
      manifest,
      resourcesOf,
      afterRun,
      ...counted,
      onSecrets: keepSecret,
      targetsOf: () => [],
    };
  };
}

async function loadConnector({ knownConnectors }: CommandContext, name: string): Promise<Connector> {
  const entry = knownConnectors.find((one) => one.name === name);
  if (entry) return entry.load();
  throw new MirrorError("config", `this version knows no connector ${name}`);
}

interface ReceiverOptions {
  readonly postgres: Postgres;
  readonly engine: JobEngine;
  readonly closed: AbortSignal;
}

/** Opens what answers deliveries. Reads nothing yet. */
export function openReceiver(
  context: CommandContext,
  config: Config,
  { postgres, engine, closed }: ReceiverOptions,
): FleetCompanies {
  const { env, clock, log, keepSecret, knownConnectors } = context;
  return new FleetCompanies({
    postgres,
    sendJob: (sql, company) => engine.send("events", [company], sql),
    formOf: async (connector) => {
      const { manifest } = await loadConnector(context, connector ?? knownConnectors[0].name);
      return manifest.webhooks?.deliveries ?? signedForm;
    },
    secrets: { env, folder: config.dataDir, readFile },
    retiredKeys: (company) => mirrorFiles(config, company).secrets,
    onSecrets: keepSecret,
    clock,
    log,
    closed,
  });
}

function readFile(file: string): string {
  return readFileSync(file, "utf8");
}
