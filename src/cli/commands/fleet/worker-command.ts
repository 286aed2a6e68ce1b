import { hostname } from "node:os";
import path from "node:path";
import { MirrorError, messageOf, hintOf } from "../../../base/errors.ts";
import { isLocalAddress, parseListen, type ListenAddress } from "../../../config/address.ts";
import { createNodePages } from "../../../fleet/worker/node-pages.ts";
import type { Companies } from "../../../webhook/receiver.ts";
import type { CommandContext } from "../../program/command.ts";
import type { CommandRun } from "../../program/command-table.ts";
import { listenUntilSignal, type ListeningProcess } from "../../program/listening-process.ts";
import { makeFolders } from "../../../base/files/atomic-file.ts";
import type { Config } from "../../../config/config.ts";
import { startJobEngine, type JobEngine } from "../../../fleet/jobs/job-engine.ts";
import { openPostgres, type Postgres } from "../../../fleet/postgres/connection.ts";
import { migrateFleet } from "../../../fleet/postgres/schema.ts";
import { FleetCompanies } from "../../../fleet/receiver/fleet-companies.ts";
import { createFleetMetrics } from "../../../fleet/status/fleet-metrics.ts";
import { createRadarSite } from "../../../fleet/status/radar-site.ts";
import type { FleetNode } from "../../../fleet/worker/fleet-node.ts";
import { fleetTables, type FleetTables } from "../../../fleet/postgres/tables/fleet-tables.ts";
import { createNodeLoops, type NodeLoops } from "../../../fleet/postgres/node-loops.ts";
import { createPageAccess, servedPageToken } from "../../../status/page/page-access.ts";
import { takeWriterLock } from "../../../store/writer-lock.ts";
import type { ConnectionCounts } from "../../../server/connections.ts";
import { fleetOf, loadConnector, postgresUrl, waitForPostgres, type PostgresWait } from "./open-fleet.ts";
import { commitSnapshot } from "../../../fleet/postgres/catalogue/commit-snapshot.ts";
import { secretTexts, soleCompany } from "../../../config/companies.ts";
import { mirrorFiles, settingsOf, type CompanySettings } from "../../../store/mirror-files.ts";
import { readSecretFile } from "../../../config/secrets.ts";
import { proveStore, putChecked, type FileStore } from "../../../file-store/file-store.ts";
import { openStore } from "../../../file-store/open-store.ts";
import { writeRight } from "../../../fleet/ownership/ownership.ts";
import type { RequestGuard } from "../../../runs/service-connection.ts";
import { withScratchFolder } from "../../mirror/as-of.ts";
import type { NodeParts, NodePublishing, NodeSettings } from "../../../fleet/assignment/node-context.ts";
import { configOfCompany } from "../../../fleet/config/company-document.ts";
import { publishReports, withReports } from "../../../fleet/reports/publish-reports.ts";
import { sendExports } from "../../../fleet/reports/send-exports.ts";
import { contentsAddress } from "../../../files/published-files.ts";
import { MirrorSnapshots } from "../../../fleet/snapshot/mirror-snapshots.ts";
import { signedForm } from "../../../webhook/ingest/delivery.ts";
import { hostProcess } from "../../runs/host-process.ts";

export const workerCommand: CommandRun<"worker"> = async (context, { options, config }) => {
  const { role } = options;
  const { log } = context;
  if (context.globals.company !== undefined)
    throw new MirrorError("usage", "a worker holds any company of the fleet: --company chooses none", {
      hint: "`fleet add` and `fleet remove` decide which companies there are; `serve --company` holds chosen ones.",
    });
  const address = parseListen(options.listen) ?? config.serve;
  const { dataDir } = config;
  if (role !== "receive") makeFolders(dataDir);
  // Two nodes in one folder would each remove the other's mirrors.
  const lock = path.join(dataDir, ".worker.lock");
  using _ = role === "receive" ? null : takeWriterLock(lock, "worker", `the data folder ${dataDir}`);
  const worker = new WorkerProcess(context, config, role);
  await listenUntilSignal(context, {
    address,
    receives: role !== "work",
    server: servedBy(context, config, worker, address),
    pageToken: servedPageToken(config, isLocalAddress(address)),
    onHangup: () => log.info("companies are read from Postgres by themselves"),
    start: () => worker.start(),
    announce: (url) => [
      { node: worker.name, role },
      [`node ${worker.name}: ${roleTexts[role]}, listening on ${url}`],
    ],
    stop: (answered) => Promise.all([answered, worker.stop()]),
  });
  log.info("stopped: everything that could be was published and released");
  return "drained";
};

const roleTexts = {
  all: "holds companies and answers deliveries",
  work: "holds companies",
  receive: "answers deliveries",
} as const;

function servedBy(
  { clock, log, version }: CommandContext,
  config: Config,
  worker: WorkerProcess,
  address: ListenAddress,
): ListeningProcess["server"] {
  const pages = createNodePages(version, worker);
  const isLocal = isLocalAddress(address);
  const token = () => servedPageToken(config, isLocal);
  const access = createPageAccess({ clock, log, isLocal, token });
  const site = createRadarSite(version, access, clock, () => worker.postgres);
  const pageHosts = () => [address.host, ...config.serve.hosts];
  // Deliveries are refused as "send again" until the worker receives; a node that only works knows no company.
  const unknown = worker.role === "work" ? null : "unavailable";
  const companies: Companies = {
    find: (name) => (worker.receiver ? worker.receiver.find(name) : unknown),
    countAnswer: (name, result, refusal) => worker.receiver?.countAnswer(name, result, refusal),
  };
  return { companies, pages, site, pageHosts, counts: worker.connections };
}

/** Others take a receiver for lost after a minute. */
const heartbeatMs = 10_000;

type Role = "all" | "work" | "receive";

/**
 * One node of the fleet as this process runs it: each part is there from the moment in which it was opened.
 *
 * Guarantee: `stop` ends whatever was opened, also after a start that failed or has not ended.
 * Source of truth: Postgres.
 * Worst outcome of a crash: as of its node.
 */
class WorkerProcess {
  readonly name: string;
  readonly role: Role;
  readonly connections: ConnectionCounts = { dropped: 0 };
  /** Null: not yet, or not in this role. */
  node: FleetNode | null = null;
  receiver: FleetCompanies | null = null;
  /** Metrics of the whole fleet; none before Postgres is there. */
  fleetMetrics: () => Promise<readonly string[]> = () => Promise.resolve([]);
  private readonly context: CommandContext;
  private readonly config: Config;
  private readonly loops: NodeLoops;
  private readonly closing = new AbortController();
  private startProblem: string | null = "the node starts";
  /** Null: not reached yet. */
  postgres: Postgres | null = null;
  private engine: JobEngine | null = null;
  private tasks: Promise<void>[] = [];

  constructor(context: CommandContext, config: Config, role: Role) {
    const { clock, log, random } = context;
    this.context = context;
    this.config = config;
    this.role = role;
    this.name = fleetOf(config).node ?? `${hostname()}-${random.uuid().slice(0, 6)}`;
    this.loops = createNodeLoops(clock, log);
  }

  /** Why it is not ready; null: it is. */
  get problem(): string | null {
    return this.startProblem ?? this.loops.problem();
  }

  /** Opens everything, and waits for Postgres meanwhile. Throws MirrorError `config`, `database`, `stopped`, those of the store. */
  async start(): Promise<void> {
    const { context, config, name, role } = this;
    const { clock, log, signal } = context;
    const onProblem = (problem: string | null) => (this.startProblem = problem ?? "the node starts");
    const wait = { clock, log, signal, onProblem };
    const url = postgresUrl(config);
    const postgres = await waitForPostgres(wait, () => openPostgres(url, name, log));
    this.postgres = postgres;
    this.fleetMetrics = createFleetMetrics(postgres, clock);
    await waitForPostgres(wait, () => migrateFleet(postgres));
    const tables = fleetTables(postgres, fleetOf(config).reportsKeptMs);
    const engine = await waitForPostgres(wait, () => startJobEngine(postgres, log, role !== "receive"));
    this.engine = engine;
    if (role === "receive") await this.showReceiver(wait, tables);
    else {
      const parts = await openNodeParts(context, config, { name, role }, tables, engine, this.connections);
      // A receiver does without the engine of runs.
      const { FleetNode: Node } = await import("../../../fleet/worker/fleet-node.ts");
      const node = new Node(parts, this.loops);
      this.node = node;
      await waitForPostgres(wait, () => node.start());
      await waitForPostgres(wait, () => this.keepCatalogue(postgres, engine));
    }
    if (role !== "work") {
      this.receiver = this.openReceiver(postgres, engine);
      this.tasks.push(this.receiver.follow());
    }
    this.startProblem = null;
  }

  /** Has what is published in DuckLake's catalogue, within two minutes as long as one worker runs. */
  private async keepCatalogue(postgres: Postgres, engine: JobEngine): Promise<void> {
    const { context, config, closing } = this;
    const { reports, reportsKeptMs } = fleetOf(config);
    if (reports === null) return;
    await engine.everyMinute("catalogue", async () => {
      try {
        while (!closing.signal.aborted && (await commitSnapshot(postgres, `${reports}/`, reportsKeptMs)) > 0);
      } catch (error) {
        context.log.warn("the catalogue was not committed; it is tried again", { error: messageOf(error) });
      }
    });
  }

  /** Shows in table `nodes` that it receives, as a node that holds companies shows itself. */
  private async showReceiver(wait: PostgresWait, { nodes }: FleetTables): Promise<void> {
    const { context, name, loops, closing } = this;
    const facts = { node: name, role: "receive", capacity: 0, held: 0, version: context.version };
    await waitForPostgres(wait, () => nodes.register(facts));
    const beat = async () => void (await nodes.beat(facts));
    const signOff = () => nodes.remove(name).catch(() => undefined);
    this.tasks.push(loops.repeat("the node's heartbeat", heartbeatMs, beat, closing.signal).then(signOff));
  }

  private openReceiver(postgres: Postgres, engine: JobEngine): FleetCompanies {
    const { context, config, closing } = this;
    const { env, clock, log, onSecrets } = context;
    return new FleetCompanies({
      postgres,
      sendJob: (sql, company) => engine.send("events", [company], sql),
      formOf: async (connector) =>
        (await loadConnector(context, connector)).declaration.webhooks?.deliveries ?? signedForm,
      secrets: { env, folder: config.dataDir, readFile: readSecretFile },
      retiredKeys: (company) => mirrorFiles(config, company).secrets,
      onSecrets,
      clock,
      log,
      closed: closing.signal,
    });
  }

  /** Resolves when all has ended; never, where something hangs for ever. */
  async stop(): Promise<void> {
    this.closing.abort();
    await Promise.all([this.node?.stop(), ...this.tasks]);
    await this.engine?.stop();
    await this.postgres?.close();
  }
}

/** Opens what a node holds companies with, and proves that it can publish them. Throws the store's MirrorErrors. */
export async function openNodeParts(
  context: CommandContext,
  config: Config,
  { name, role }: Pick<NodeSettings, "name" | "role">,
  tables: FleetTables,
  engine: JobEngine,
  connections: ConnectionCounts,
): Promise<NodeParts> {
  const { clock, log, version, env, connectors } = context;
  const { dataDir } = config;
  const { snapshots, reports, capacity, snapshotEveryMs } = fleetOf(config);
  const openProven = async (key: "snapshots" | "reports", address: string) => {
    const opened = openStore(address, context);
    await proveStore(opened, `fleet.${key}`, name, context.signal);
    return opened;
  };
  const store = await openProven("snapshots", snapshots);
  const published = reports === null ? null : await openProven("reports", reports);
  return {
    host: hostProcess(context, connections),
    node: { name, role, dataDir, capacity, snapshotEveryMs },
    tables,
    engine,
    snapshots: new MirrorSnapshots({ store, snapshots: tables.snapshots, clock, log, version }),
    store,
    load: async ({ name: member, config: document }) => {
      const surroundings = { dataDir, env, readFile: readSecretFile, connectors };
      const read = configOfCompany(member, document, surroundings);
      context.onSecrets(secretTexts(read));
      const { declaration } = await loadConnector(context, read.connector);
      const files = { ...read.files, store: contentsAddress(snapshots, member) };
      const own = withReports({ ...read, files }, member, published === null ? null : declaration);
      return settingsOf(own, soleCompany(own), declaration);
    },
    publish: {
      report: published ? reportPublisher(context, published, tables) : () => Promise.resolve(null),
      exports: (...made) => sendExports(...made, context),
      month: (...asked) => publishMonth(context, published, ...asked),
      files: async (company, guard, fetching) => {
        const { fetchFilesOf } = await import("../output/after-run-command.ts");
        return (await fetchFilesOf(scopeOf(context, company, guard, fetching))).isReportDue;
      },
    },
  };
}

/** Publishes what was made after a run where readers of all companies find it. A failure is logged. */
function reportPublisher(
  context: CommandContext,
  store: FileStore,
  { reports }: FleetTables,
): NodePublishing["report"] {
  const { clock, log, signal } = context;
  return async ({ config, company: { name: company }, declaration: { questions }, files }, ownership) => {
    const startedMs = clock.monotonicMs();
    const { schedule } = config;
    try {
      const published = await publishReports(ownership, schedule, files, store, reports, signal, questions);
      if (!published) return null;
      const { seq, written, removed, bytes } = published;
      const ms = Math.round(clock.monotonicMs() - startedMs);
      const facts = { company, seq, files: written.length, removed: removed.length, bytes, ms };
      log.info("reports published", facts);
      return null;
    } catch (error) {
      // What lost the company says so once.
      if (!ownership.isHeld()) return null;
      if (signal.aborted) throw error;
      log.error("the reports could not be published", { company, error: messageOf(error), ...hintOf(error) });
      return `it could not be published: ${messageOf(error)}`;
    }
  };
}

/** A company that a worker owns, as commands know one. Its requests need the permits of its ownership. */
function scopeOf(given: CommandContext, settings: CompanySettings, guard: RequestGuard, signal: AbortSignal) {
  const context: CommandContext = {
    ...given,
    signal,
    showing: (step) => step(() => undefined),
    progress: (_, step) => step(),
  };
  return { ...settings, context, guard };
}

/** Makes the package of a month as `package --zip` does, and stores it. */
async function publishMonth(
  given: CommandContext,
  store: FileStore | null,
  ...[company, { month, proved }, owner, guard, signal, key]: Parameters<NodePublishing["month"]>
): ReturnType<NodePublishing["month"]> {
  if (!store)
    throw new MirrorError("config", `${owner.node} has no fleet.reports, where packages are stored`);
  const { packageCompany, proveMonth } = await import("../output/package.ts");
  const scope = scopeOf(given, company, guard, signal);
  const proof = proved ? await proveMonth(scope, month) : null;
  if (proof?.match === false) return `${proof.equal} of ${proof.compared} documents equal the service`;
  return withScratchFolder(scope, "month", async (out) => {
    let stored: Awaited<ReturnType<typeof putChecked>> | undefined;
    const deliver = async (archive: string) => {
      stored = await putChecked(store, key, archive, writeRight(owner, signal));
    };
    const { packed } = await packageCompany(scope, { zip: true }, month, out, proof, deliver);
    if (!packed || !stored) return "the mirror changed meanwhile";
    const { log, position } = packed.hand_over;
    const { size_bytes: bytes, sha256 } = stored;
    return { key, log, position, proved, bytes, sha256, without_pdf: packed.withoutPdf };
  });
}
