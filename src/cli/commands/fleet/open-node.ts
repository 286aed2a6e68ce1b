import { MirrorError, hintOf, messageOf } from "../../../base/errors.ts";
import type { CommandContext } from "../../program/command.ts";
import type { Config } from "../../../config/config.ts";
import type { JobEngine } from "../../../fleet/jobs/job-engine.ts";
import type { Postgres } from "../../../fleet/postgres/connection.ts";
import { FleetCompanies } from "../../../fleet/receiver/fleet-companies.ts";
import type { FleetTables } from "../../../fleet/postgres/tables/fleet-tables.ts";
import type { ConnectionCounts } from "../../../server/connections.ts";
import { fleetOf } from "./open-fleet.ts";
import { soleCompany } from "../../../config/companies.ts";
import { mirrorFiles } from "../../../config/mirror-files.ts";
import { readSecretFile } from "../../../config/secrets.ts";
import { proveStore, type FileStore } from "../../../file-store/file-store.ts";
import { openStore } from "../../../file-store/open-store.ts";
import type { NodeParts, NodePublishing, NodeSettings } from "../../../fleet/assignment/node-context.ts";
import { configOfCompany } from "../../../fleet/config/company-document.ts";
import { publishReports, withReports } from "../../../fleet/reports/publish-reports.ts";
import { MirrorSnapshots } from "../../../fleet/snapshot/mirror-snapshots.ts";
import { signedForm } from "../../../webhook/ingest/delivery.ts";
import { selectResources } from "../../mirror/company-scope.ts";
import { hostProcess } from "../../runs/host-process.ts";

/**
 * Opens what a node holds companies with, and proves that it can publish them.
 *
 * @throws MirrorError those of the store
 */
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
      const { manifest } = await loadConnector(context, read.connector);
      const own = withReports(read, member, published === null ? null : manifest);
      const resources = selectResources(manifest, own.resources);
      return { manifest, settings: { config: own, company: soleCompany(own), resources } };
    },
    publish: {
      report: published ? reportPublisher(context, published, tables) : () => Promise.resolve(null),
      month: async (...asked) =>
        (await import("./publish-month.ts")).publishMonth(context, published, ...asked),
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
  return async ({ config, company: { name: company } }, ownership) => {
    const startedMs = clock.monotonicMs();
    const files = mirrorFiles(config, company);
    const { schedule } = config;
    try {
      const { questions } = (await loadConnector(context, config.connector)).manifest;
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
      log.error("the reports could not be published", { company, error: messageOf(error), ...hintOf(error) });
      return `it could not be published: ${messageOf(error)}`;
    }
  };
}

async function loadConnector({ connectors }: CommandContext, name: string) {
  const entry = connectors.find((one) => one.name === name);
  if (entry) return entry.load();
  throw new MirrorError("config", `this version knows no connector ${name}`);
}

/** The companies that deliveries are received for, as Postgres has them. */
export function openReceiver(
  context: CommandContext,
  config: Config,
  postgres: Postgres,
  engine: JobEngine,
  closed: AbortSignal,
): FleetCompanies {
  const { env, clock, log, onSecrets, connectors } = context;
  return new FleetCompanies({
    postgres,
    sendJob: (sql, company) => engine.send("events", [company], sql),
    formOf: async (connector) => {
      const { manifest } = await loadConnector(context, connector ?? connectors[0].name);
      return manifest.webhooks?.deliveries ?? signedForm;
    },
    secrets: { env, folder: config.dataDir, readFile: readSecretFile },
    retiredKeys: (company) => mirrorFiles(config, company).secrets,
    onSecrets,
    clock,
    log,
    closed,
  });
}
