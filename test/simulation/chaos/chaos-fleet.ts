import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { startSandbox, type Sandbox } from "../../support/sandbox/control.ts";
import { memoryFolder } from "../../support/memory-folder.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { startProgram } from "../../support/program/serve-process.ts";
import { startBalancer, type Balancer } from "./balancer.ts";
import { RequestWatch } from "./request-watch.ts";
import { WorkerNode, type NodeOptions } from "./worker-node.ts";

/** How a fleet under test is built. */
export interface FleetOptions {
  readonly seed: number;
  readonly postgresUrl: string;
  readonly companies: number;
  /** Documents of each company. */
  readonly records: number;
  readonly roles: readonly NodeOptions["role"][];
  /** Of each node. */
  readonly capacity: number;
  /** The service's budget of each company; the ratio is the service's own. */
  readonly budget: { readonly limit: number; readonly windowMs: number };
  /** Of the config of every company: keys of the file, as YAML lines. */
  readonly config: readonly string[];
  readonly snapshotEvery: string;
  /**
   * Waits between attempts of a delivery as a multiple of the service's 10 s, 100 s, 1,000 s and 10,000 s: so that none is
   * given up while a node is away.
   */
  readonly retryScale: number;
  /** A process that lives longer is killed: longer than everything. */
  readonly mostMs: number;
}

/** Companies of one sandbox, the nodes that share them, and a balancer before the receivers. */
export interface ChaosFleet {
  readonly sandbox: Sandbox;
  readonly names: readonly string[];
  readonly nodes: readonly WorkerNode[];
  readonly watch: RequestWatch;
  /** Where the snapshots are. */
  readonly snapshots: string;
  readonly folder: string;
  close(): Promise<void>;
}

/** A stopped receiver still accepts connections: the sender gives up soon and tries another one. */
const deliveryTimeoutMs = 2_000;

/** Builds all of it, and adds the companies to Postgres by `fleet add --all`. Starts no worker. */
export async function openChaosFleet(options: FleetOptions): Promise<ChaosFleet> {
  const { seed, companies, records, budget, roles, retryScale } = options;
  const folder = mkdtempSync(path.join(memoryFolder(), "fintoro-mirror-chaos-"));
  const [snapshots, reports] = [path.join(folder, "snapshots"), path.join(folder, "reports")];
  const nodes = await Promise.all(
    roles.map((role, i) => {
      const name = `worker-${i + 1}`;
      const { postgresUrl, snapshotEvery, capacity, mostMs } = options;
      const own = { name, role, folder: path.join(folder, name), postgresUrl };
      return WorkerNode.prepare({ ...own, snapshots, reports, capacity, snapshotEvery, mostMs });
    }),
  );
  const ports = nodes.filter(({ options: { role } }) => role !== "work").map(({ port }) => port);
  const balancer = await startBalancer(ports, seededRandom(seed));
  const hooks = { allowLoopbackWebhooks: true, retryScale, deliveryTimeoutMs };
  const sandbox = await startSandbox({ seed, companies, records, today: "2026-11-20", ...budget, ...hooks });
  const names = sandbox.companies.map((_, i) => `company-${i + 1}`);
  const watch = new RequestWatch(sandbox, names);
  const close = async () => {
    for (const node of nodes) await node.kill();
    watch.close();
    await balancer.close();
    await sandbox.close();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    writeFleetConfig({ sandbox, names, balancer, folder, snapshots, options });
    await addCompanies(folder, options);
  } catch (error) {
    await close();
    throw error;
  }
  return { sandbox, names, nodes, watch, snapshots, folder, close };
}

interface ConfigParts {
  readonly sandbox: Sandbox;
  readonly names: readonly string[];
  readonly balancer: Balancer;
  readonly folder: string;
  readonly snapshots: string;
  readonly options: FleetOptions;
}

/** The config of all companies: `fleet add` takes no secret itself, so each has its files. */
function writeFleetConfig({ sandbox, names, balancer, folder, snapshots, options }: ConfigParts): void {
  const secrets = path.join(folder, "secrets");
  mkdirSync(secrets);
  const keep = (name: string, text: string) => {
    const file = path.join(secrets, name);
    writeFileSync(file, text, { mode: 0o600 });
    return JSON.stringify(`\${file:${file}}`);
  };
  const lines = names.map((name, i) => {
    const secret = subscribe(sandbox, i, `http://127.0.0.1:${balancer.port}/webhooks/${name}`);
    const token = keep(`${name}-token`, sandbox.companies[i]?.token ?? "");
    return `  ${name}: { token: ${token}, webhook: { secrets: [${keep(`${name}-secret`, secret)}] } }`;
  });
  const fleet = `fleet: { postgres: "\${env:DATABASE_URL}", snapshots: ${JSON.stringify(snapshots)} }`;
  const window = `rate_limit: { window: ${options.budget.windowMs}ms }`;
  const head = [`base_url: ${sandbox.url}`, fleet, window, "http: { timeout: 10s }", ...options.config];
  const text = [...head, "companies:", ...lines, ""].join("\n");
  writeFileSync(path.join(folder, "config.yaml"), text, { mode: 0o600 });
}

/** To everything there are events of. Gives the secret. */
function subscribe({ control }: Sandbox, company: number, url: string): string {
  const kinds = ["clients", "invoices", "orders"];
  const subscribedEvents = kinds.flatMap((one) => [`${one}.created`, `${one}.updated`, `${one}.deleted`]);
  const input = { url, isActive: true, subscribedEvents };
  const { id } = control.create("webhook_subscriptions", input, company) as { readonly id: number };
  return control.secret(id, company);
}

async function addCompanies(
  folder: string,
  { postgresUrl: DATABASE_URL, mostMs }: FleetOptions,
): Promise<void> {
  const adding = startProgram(["fleet", "add", "--all"], { folder, mostMs, env: { DATABASE_URL } });
  const { code } = await adding.ended;
  if (code !== 0) throw new Error(`fleet add --all ended with ${code}: ${adding.stderr().slice(-2_000)}`);
}
