import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { openPostgres, type Postgres } from "../../../src/fleet/postgres/connection.ts";
import { silentLog } from "../../../src/base/logger.ts";
import { JobEngine } from "../../../src/fleet/jobs/job-engine.ts";
import { memoryFolder } from "../../support/memory-folder.ts";
import { startPostgres, type PostgresServer } from "../../support/postgres/server.ts";
import { startProgram, type Process } from "../../support/program/serve-process.ts";
import { countingSettings } from "./statement-count.ts";

/** Companies in Postgres that nobody holds and that have nothing to do; no service is asked. */
export interface IdleFleet {
  readonly server: PostgresServer;
  readonly postgres: Postgres;
  readonly folder: string;
  /** How long `fleet add` of all took, ms. */
  readonly addMs: number;
  /** `fleet add --all` of the config in this folder. */
  add(folder: string, env?: Readonly<Record<string, string>>): Promise<void>;
  /** A worker that holds what has work. */
  startWorker(name: string, env?: Readonly<Record<string, string>>): Process;
  /** The section of a config. */
  section(node: string): string;
  close(): Promise<void>;
}

const mostMs = 30 * 60_000;
/** Nothing answers there: a company that is woken up would fail, and would be seen. */
const nowhere = "http://127.0.0.1:9/api";

/** Adds companies by `fleet add --all`, and gives each the rows that it has after a release. */
export async function openIdleFleet(companies: number): Promise<IdleFleet> {
  const server = await startPostgres({ durable: true, more: countingSettings });
  const folder = mkdtempSync(path.join(memoryFolder(), "fintoro-mirror-idle-"));
  const url = await server.createDatabase();
  const postgres = await openPostgres({ url, node: "bench", log: silentLog, maxConnections: 2 });
  const shared = { DATABASE_URL: url, TOKEN: `1|${"t".repeat(40)}`, SECRET: `whsec_${"s".repeat(32)}` };
  const start = (args: readonly string[], cwd: string, env = {}) =>
    startProgram(args, { folder: cwd, mostMs, env: { ...shared, ...env } });
  const section = (node: string) =>
    `fleet: { postgres: "\${env:DATABASE_URL}", snapshots: ${path.join(folder, "snapshots")}, node: ${node} }`;
  const add = async (own: string, env = {}) => {
    const adding = start(["fleet", "add", "--all", "-q"], own, env);
    const { code } = await adding.ended;
    if (code !== 0) throw new Error(`fleet add ended with ${code}: ${adding.stderr().slice(-2_000)}`);
  };
  const startWorker = (name: string, env = {}) => {
    const own = path.join(folder, name);
    mkdirSync(own);
    writeFileSync(path.join(own, "config.yaml"), `${section(name)}\n`, { mode: 0o600 });
    return start(["worker", "--role", "work", "--listen", "127.0.0.1:0", "--log-format", "json"], own, env);
  };
  const close = async () => {
    await postgres.close();
    await server.end();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    writeFileSync(path.join(folder, "config.yaml"), `${section("all")}\n${idleConfig(companies)}`, {
      mode: 0o600,
    });
    const startedMs = performance.now();
    await add(folder);
    const addMs = performance.now() - startedMs;
    await postgres.query(releaseSql);
    await leaveJobs(postgres);
    return { server, postgres, folder, addMs, add, startWorker, section, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** One night for all, as most have it. */
function idleConfig(count: number): string {
  const secrets = 'token: "${env:TOKEN}", webhook: { secrets: ["${env:SECRET}"] }';
  const companies = Array.from({ length: count }, (_, i) => `  company-${i + 1}: { ${secrets} }`);
  const lines = [`base_url: ${nowhere}`, 'schedule: { sync: "15 3 * * *" }', "companies:", ...companies];
  return `${lines.join("\n")}\n`;
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
