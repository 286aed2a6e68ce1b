import { setTimeout as pause } from "node:timers/promises";
import { processFacts } from "../../support/company/many-companies.ts";
import { endServe, type Process } from "../../support/program/serve-process.ts";
import { tableOf, type BenchResult } from "../result.ts";
import { processorSeconds } from "./process-cost.ts";
import { startSandbox } from "../../support/sandbox/control.ts";
import { silentLog } from "../../../src/base/logger.ts";
import { JobEngine } from "../../../src/fleet/jobs/job-engine.ts";
import type { Postgres } from "../../../src/fleet/postgres/connection.ts";
import { openFleetBed, until, type FleetBed } from "./fleet-bed.ts";

const sizes = { usual: 500, large: 5_000 };
const heldCount = 20;
const restMs = 10_000;
const measuredMs = 60_000;
/** Shorter than the time after which held companies are released. */
const heldMs = 40_000;
const mostPerMinute = 1;

/** What one measured time cost. */
interface Cost {
  readonly name: string;
  readonly seconds: number;
  readonly statements: number;
  /** Shares of one core. */
  readonly postgresCpu: number;
  readonly workerCpu: readonly number[];
  /** Of the first worker. */
  readonly memoryBytes: number;
}

/**
 * What a fleet costs in which nothing happens: companies that nobody holds, with one and with three workers, and
 * companies that one worker holds. 500 companies take 4 minutes; 5,000 (`--large`) some more.
 */
export async function benchIdleFleet(isLarge: boolean): Promise<BenchResult[]> {
  const companies = isLarge ? sizes.large : sizes.usual;
  await using resources = new AsyncDisposableStack();
  const fleet = await openIdleFleet(resources, companies);
  const workers: Process[] = [];
  const costs: Cost[] = [];
  console.log(await sizesText(fleet, companies));
  for (const count of [1, 3]) {
    while (workers.length < count) workers.push(fleet.startWorker(`worker-${workers.length + 1}`));
    await pause(restMs);
    costs.push(await measure(`none held, workers: ${count}`, fleet, workers, measuredMs));
  }
  await assertIdle(fleet, workers);
  for (const worker of workers) await endServe(worker, "SIGTERM");
  const held = await openHeldCompanies(resources, fleet, heldCount);
  costs.push(await measureHeld(fleet, held));
  console.log(`\n${costsText(costs)}\n`);
  return costs.slice(0, 2).map((cost) => bound(cost, companies));
}

async function measureHeld(fleet: FleetBed, held: HeldCompanies): Promise<Cost> {
  const maker = fleet.startWorker("maker", held.env);
  await held.make();
  await endServe(maker, "SIGTERM");
  const holder = fleet.startWorker("holder", held.env);
  await held.hold();
  await pause(restMs);
  const cost = await measure(`${heldCount} held, workers: 1`, fleet, [holder], heldMs);
  const stillHeld = await held.heldNow();
  if (stillHeld !== heldCount) throw new Error(`${stillHeld} of ${heldCount} companies are held`);
  return cost;
}

async function measure(
  name: string,
  fleet: FleetBed,
  workers: readonly Process[],
  ms: number,
): Promise<Cost> {
  const used = () => workers.map(({ child }) => processorSeconds(child.pid ?? 0));
  const before = used();
  const { seconds, statements, cpuSeconds } = await fleet.costOf(() => pause(ms));
  return {
    name,
    seconds,
    statements,
    postgresCpu: cpuSeconds / seconds,
    workerCpu: used().map((all, i) => (all - (before[i] ?? 0)) / seconds),
    memoryBytes: processFacts(workers[0]?.child.pid ?? 0).rssBytes,
  };
}

/** Nothing was claimed: what was measured is a fleet without work. */
async function assertIdle({ postgres }: FleetBed, workers: readonly Process[]): Promise<void> {
  const [row] = await postgres.query<{ claims: number }>(
    "SELECT count(*)::int AS claims FROM fintoro_mirror.owners WHERE node IS NOT NULL OR epoch <> 3",
  );
  const ended = workers.filter(({ child }) => child.exitCode !== null);
  if (row?.claims !== 0 || ended.length > 0)
    throw new Error(
      `${row?.claims} companies were claimed, ${ended.length} workers ended: ${ended[0]?.stderr()}`,
    );
}

function bound(cost: Cost, companies: number): BenchResult {
  const perSecond = cost.statements / cost.seconds;
  const perMinute = (perSecond * 60) / companies;
  return {
    name: `${companies} companies, ${cost.name}: statements a minute for each`,
    ratio: perMinute,
    aim: `at most ${mostPerMinute} of ${sizes.large} companies`,
    detail: `${perSecond.toFixed(1)} a second in all`,
  };
}

function costsText(costs: readonly Cost[]): string {
  return tableOf("", costs, [
    ["statements a second", ({ statements, seconds }) => (statements / seconds).toFixed(2)],
    ["Postgres, of a core", ({ postgresCpu }) => percent(postgresCpu)],
    ["each worker, of a core", ({ workerCpu }) => workerCpu.map(percent).join(", ")],
    ["memory of a worker, MB", ({ memoryBytes }) => (memoryBytes / 1e6).toFixed(0)],
  ]);
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

/** What Postgres keeps for each company, by table. */
async function sizesText({ postgres }: FleetBed, companies: number): Promise<string> {
  const rows = await postgres.query<{ name: string; bytes: number }>(`
    SELECT c.relname AS name, pg_total_relation_size(c.oid)::float8 AS bytes
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname IN ('fintoro_mirror', 'pgboss') AND c.relkind = 'r' AND pg_total_relation_size(c.oid) > 100000
    ORDER BY 2 DESC`);
  return rows
    .map(({ name, bytes }) => `  ${(bytes / companies).toFixed(0).padStart(7)} B  ${name}`)
    .join("\n");
}

type HeldCompanies = Awaited<ReturnType<typeof openHeldCompanies>>;

const firstRunsMs = 300_000;
const claimMs = 30_000;

/** Companies with a mirror. One that is taken again has nothing to do, and is held for 90 s. */
async function openHeldCompanies(resources: AsyncDisposableStack, fleet: FleetBed, count: number) {
  const starting = startSandbox({ companies: count, records: 10, limit: 1_000_000, retryScale: 0.001 });
  const sandbox = resources.adopt(await starting, (one) => one.close());
  const tokens = sandbox.companies.map(({ token }, i) => [`TOKEN_${i}`, token] as const);
  const env = Object.fromEntries(tokens);
  const heldNow = () => countWhere(fleet.postgres, "o.node IS NOT NULL");
  /** Puts them into the fleet, and resolves when all have made their first run. */
  const make = async () => {
    const companies = tokens.map(
      ([name], i) => `  held-${i}: { token: "\${env:${name}}", webhook: { secrets: ["\${env:SECRET}"] } }`,
    );
    // Nothing is made of what they read: that would be work.
    const head = [`base_url: ${sandbox.url}`, 'schedule: { sync: "15 3 * * *", publish: off }'];
    await fleet.add("held", [...head, "companies:", ...companies], env);
    const whole = "s.facts #>> '{summary,whole_at}' IS NOT NULL";
    await until(async () => (await countWhere(fleet.postgres, whole)) === count, firstRunsMs);
  };
  /** Has a worker take all of them at once, and resolves when it has. */
  const hold = async () => {
    const engine = await JobEngine.start(fleet.postgres, silentLog, false);
    await engine.send(
      "run",
      [...tokens.keys()].map((i) => `held-${i}`),
    );
    await engine.stop();
    await until(async () => (await heldNow()) === count, claimMs);
  };
  return { make, hold, heldNow, env };
}

async function countWhere(postgres: Postgres, condition: string): Promise<number> {
  const [row] = await postgres.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM fintoro_mirror.owners o LEFT JOIN fintoro_mirror.snapshots s USING (company)
     WHERE company LIKE 'held-%' AND (${condition})`,
  );
  return row?.count ?? 0;
}

/** Nothing answers there: a company that is woken up would fail, and would be seen. */
const nowhere = "http://127.0.0.1:9/api";

/** Adds companies by `fleet add --all`, and gives each the rows that it has after a release. */
async function openIdleFleet(resources: AsyncDisposableStack, companies: number): Promise<FleetBed> {
  const env = { TOKEN: `1|${"t".repeat(40)}`, SECRET: `whsec_${"s".repeat(32)}` };
  const bed = await openFleetBed(resources, (all) => `snapshots: ${all}/snapshots`, env);
  await bed.add("all", idleConfig(companies));
  await bed.postgres.query(releaseSql);
  await leaveJobs(bed.postgres);
  return bed;
}

/** One night for all, as most have it. */
function idleConfig(count: number): string[] {
  const secrets = 'token: "${env:TOKEN}", webhook: { secrets: ["${env:SECRET}"] }';
  const companies = Array.from({ length: count }, (_, i) => `  company-${i + 1}: { ${secrets} }`);
  return [`base_url: ${nowhere}`, 'schedule: { sync: "15 3 * * *" }', "companies:", ...companies];
}

/** Each company left a job for its next run, hours from now. */
async function leaveJobs(postgres: Postgres): Promise<void> {
  const engine = await JobEngine.start(postgres, silentLog, false);
  await engine.sendLater("company-1", 10 * 3_600_000);
  await engine.stop();
  await postgres.query(`
    INSERT INTO pgboss.job_common
    SELECT (jsonb_populate_record(j, jsonb_build_object('id', gen_random_uuid(), 'singleton_key', c.name,
      'data', jsonb_build_object('company', c.name)))).*
    FROM pgboss.job_common j, fintoro_mirror.companies c WHERE c.name <> 'company-1';
    ANALYZE;`);
}

/** Changes of each company that are published, and deliveries of the last days that are kept. */
const changesEach = 100;
const deliveriesEach = 20;

/** What a company leaves when it is released: owner, position in the inbox, pointer, change log. */
const releaseSql = `
INSERT INTO fintoro_mirror.owners (company, epoch, node, expires_at) SELECT name, 3, NULL, now() FROM fintoro_mirror.companies;
INSERT INTO fintoro_mirror.inbox_heads (company, seq, drained)
  SELECT name, ${deliveriesEach}, ${deliveriesEach} FROM fintoro_mirror.companies;
INSERT INTO fintoro_mirror.inbox (company, seq, event_id, body)
  SELECT name, n, 'evt_' || md5(name || n), decode(repeat('7b', 160), 'hex')
  FROM fintoro_mirror.companies, generate_series(1, ${deliveriesEach}) n;
INSERT INTO fintoro_mirror.snapshots (company, epoch, id, seq, inbox_seq, size_bytes, sha256, taken_at, node, facts)
  SELECT name, 3, md5(name), ${changesEach}, ${deliveriesEach}, 300000, md5(name) || md5(name), now(), 'worker-1', '{}'
  FROM fintoro_mirror.companies;
INSERT INTO fintoro_mirror.changes (company, log, seq, resource, record_id, op, at, cause)
  SELECT name, 'a1', n, 'invoices', (1000000 + n)::text, 'update', now(), 'webhook'
  FROM fintoro_mirror.companies, generate_series(1, ${changesEach}) n;
UPDATE fintoro_mirror.companies SET account = md5(name);
DELETE FROM pgboss.job;`;
