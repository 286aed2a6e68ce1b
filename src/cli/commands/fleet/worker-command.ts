import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import path from "node:path";
import { makeFolders } from "../../../base/atomic-file.ts";
import { MirrorError } from "../../../base/errors.ts";
import { isLoopbackUrl, listenUrl, parseListen } from "../../../config/address.ts";
import type { Config } from "../../../config/config.ts";
import { mirrorFiles } from "../../../config/mirror-files.ts";
import type { DaemonContext } from "../../../daemon/daemon-context.ts";
import { configOfCompany } from "../../../fleet/config/company-document.ts";
import { JobEngine } from "../../../fleet/jobs/job-engine.ts";
import { openPostgres, type Postgres } from "../../../fleet/postgres/connection.ts";
import { migrateFleet } from "../../../fleet/postgres/schema.ts";
import { FleetCompanies } from "../../../fleet/receiver/fleet-companies.ts";
import { makeSnapshot } from "../../../fleet/snapshot/make-snapshot.ts";
import { MirrorThreads } from "../../../fleet/snapshot/mirror-threads.ts";
import { restoreSnapshot } from "../../../fleet/snapshot/restore-snapshot.ts";
import type { FleetStore } from "../../../fleet/store/fleet-store.ts";
import { openFleetStore, proveStore } from "../../../fleet/store/open-store.ts";
import type { Snapshots } from "../../../fleet/worker/company-snapshots.ts";
import { createFleetMetrics } from "../../../fleet/status/fleet-metrics.ts";
import { fleetTables, type FleetTables } from "../../../fleet/worker/fleet-tables.ts";
import { FleetNode } from "../../../fleet/worker/fleet-node.ts";
import { NodeLoops } from "../../../fleet/worker/node-loops.ts";
import { createNodePages } from "../../../fleet/worker/node-pages.ts";
import { takeWriterLock } from "../../../store/writer-lock.ts";
import { signedForm } from "../../../webhook/ingest/delivery.ts";
import type { ConnectionCounts } from "../../../webhook/server/connections.ts";
import type { Companies } from "../../../webhook/server/receiver.ts";
import { startServer } from "../../../webhook/server/server.ts";
import { printResult } from "../../console/output.ts";
import { selectResources } from "../../mirror/selected-resources.ts";
import type { CommandContext, Connector } from "../../program/command.ts";
import type { CommandRun } from "../../program/command-table.ts";
import { createSystemd } from "../../program/systemd.ts";
import { createAfterRun } from "../../runs/after-run-process.ts";
import { fleetOf, postgresUrl } from "./open-fleet.ts";
import { makesParquet, reportPublisher } from "./open-reports.ts";

/** For responses on their way when a signal comes. */
const answerGraceMs = 3_000;
const dayMs = 86_400_000;

/** Runs one node of the fleet until a signal comes. */
export const workerCommand: CommandRun<"worker"> = async (context, { options, loaded: { config } }) => {
  const { role } = options;
  const address = parseListen(options.listen) ?? config.serve;
  const parts = await openParts(context, config, role);
  const { receiver, node, postgres, engine, release } = parts;
  const server = await listen(context, parts, address);
  const stopIgnoring = context.onHangup(() =>
    context.log.info("companies are read from Postgres by themselves"),
  );
  const systemd = createSystemd(context);
  try {
    await node?.start();
    const following = receiver?.follow();
    const url = listenUrl(address.host, server.port);
    const line = `node ${parts.name}: ${roleTexts[role]}, listening on ${url}`;
    await printResult(context, { url, pid: process.pid, node: parts.name, role }, [line]);
    systemd.ready(context.signal);
    while (!context.signal.aborted) await context.clock.sleep(dayMs, context.signal);
    await following;
  } finally {
    stopIgnoring();
    systemd.stopping();
    await Promise.all([server.close(answerGraceMs), node?.stop()]);
    await engine.stop();
    await postgres.close();
    release();
  }
  context.log.info("stopped: everything that could be was published and released");
  return "drained";
};

const roleTexts = {
  all: "holds companies and answers deliveries",
  work: "holds companies",
  receive: "answers deliveries",
} as const;
type Role = keyof typeof roleTexts;

type NodeParts = Awaited<ReturnType<typeof openParts>>;

async function openParts(context: CommandContext, config: Config, role: Role) {
  const { log, clock, random } = context;
  const fleet = fleetOf(config);
  const name = fleet.node ?? `${hostname()}-${random.uuid().slice(0, 6)}`;
  const release = role === "receive" ? () => undefined : lockFolder(config);
  const postgres = await openPostgres({ url: postgresUrl(config), node: name, log });
  try {
    await migrateFleet(postgres);
    const engine = await JobEngine.start({ postgres, log, role: role === "receive" ? "client" : "worker" });
    const loops = new NodeLoops(clock, log);
    const connections: ConnectionCounts = { dropped: 0 };
    const base = { name, role, loops, connections, postgres, engine, release };
    const node = role === "receive" ? null : await openNode(context, config, { ...base, role });
    return { ...base, node, receiver: role === "work" ? null : openReceiver(context, config, base) };
  } catch (error) {
    await postgres.close();
    release();
    throw error;
  }
}

/** Two nodes in one folder would each remove the other's mirrors. Throws MirrorError `locked`. */
function lockFolder({ dataDir }: Config): () => void {
  makeFolders(dataDir);
  const lock = takeWriterLock(path.join(dataDir, ".worker.lock"), "worker", `the data folder ${dataDir}`);
  return () => lock.release();
}

/** What both parts of a node share. */
interface SharedByRoles {
  readonly name: string;
  readonly loops: NodeLoops;
  readonly connections: ConnectionCounts;
  readonly postgres: Postgres;
  readonly engine: JobEngine;
}

async function openNode(
  context: CommandContext,
  config: Config,
  { name, role, loops, connections, postgres, engine }: SharedByRoles & { readonly role: "all" | "work" },
): Promise<FleetNode> {
  const { dataDir } = config;
  const fleet = fleetOf(config);
  const openStore = async (address: string) => {
    const opened = openFleetStore(address, context);
    await proveStore(opened, { node: name, folder: dataDir, signal: context.signal });
    return opened;
  };
  const store = await openStore(fleet.snapshots);
  const reports = fleet.reports === null ? null : await openStore(fleet.reports);
  const afterRun = createAfterRun(context);
  const tables = fleetTables(postgres);
  const { env, knownConnectors: connectors } = context;
  const surroundings = { dataDir, env, readFile, connectors };
  return new FleetNode({
    process: context,
    daemonOf: createDaemonOf(context, connections, reports ? makesParquet(afterRun) : afterRun),
    postgres,
    tables,
    engine,
    snapshots: openSnapshots(context, store, tables),
    configOf: (company, document) => configOfCompany(company, document, surroundings),
    publishReport: reports ? reportPublisher(context, reports, tables) : () => Promise.resolve(),
    node: name,
    role,
    loops,
    capacity: fleet.capacity,
    snapshotEveryMs: fleet.snapshotEveryMs,
  });
}

function openSnapshots(
  { clock, log, version }: CommandContext,
  store: FleetStore,
  { snapshots }: FleetTables,
): Snapshots {
  const threads = new MirrorThreads();
  return {
    publish: (ownership, files, signal) =>
      makeSnapshot({ ownership, files, store, snapshots, threads, clock, log, version, signal }),
    restore: (pointer, files, signal) =>
      restoreSnapshot({ company: pointer.company, pointer, store, files, threads, signal }),
  };
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

function openReceiver(
  context: CommandContext,
  config: Config,
  { postgres, engine }: SharedByRoles,
): FleetCompanies {
  const { env, clock, log, keepSecret, signal, knownConnectors } = context;
  return new FleetCompanies({
    postgres,
    sendJob: async (sql, company) => void (await engine.sendWithin(sql, "events", company)),
    formOf: async (connector) => {
      const { manifest } = await loadConnector(context, connector ?? knownConnectors[0].name);
      return manifest.webhooks?.deliveries ?? signedForm;
    },
    secrets: { env, folder: config.dataDir, readFile },
    retiredKeys: (company) => mirrorFiles(config, company).secrets,
    onSecrets: keepSecret,
    clock,
    log,
    closed: signal,
  });
}

/** A node that only works answers pages, and no delivery. */
const nobody: Companies = { find: () => null, countAnswer: () => undefined };

function listen(
  { log, clock, version }: CommandContext,
  { name, role, loops, connections, postgres, node, receiver }: NodeParts,
  { host, port }: { readonly host: string; readonly port: number },
) {
  if (receiver && !isLoopbackUrl(listenUrl(host, port)))
    log.warn("listens beyond this machine, in plain HTTP: let only a proxy with TLS reach it", { host });
  const droppedConnections = () => connections.dropped;
  const fleetMetrics = createFleetMetrics({ postgres, clock });
  const view = { node: name, role, version, loops, fleetMetrics, worker: node, receiver, droppedConnections };
  const pageHosts = () => [host];
  const pages = createNodePages(view);
  return startServer({
    host,
    port,
    companies: receiver ?? nobody,
    clock,
    log,
    pages,
    pageHosts,
    counts: connections,
  });
}

function readFile(file: string): string {
  return readFileSync(file, "utf8");
}
