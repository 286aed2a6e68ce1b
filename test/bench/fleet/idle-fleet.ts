import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { openPostgres, type Postgres } from "../../../src/fleet/postgres/connection.ts";
import { silentLog } from "../../../src/base/logger.ts";
import { memoryFolder } from "../../support/open-company.ts";
import { startPostgres, type PostgresServer } from "../../support/postgres-server.ts";
import { startProgram, type Process } from "../../support/serve-process.ts";
import { countingSettings } from "./statement-count.ts";

/** Companies in Postgres that nobody holds and that have nothing to do; no service is asked. */
export interface IdleFleet {
  readonly server: PostgresServer;
  readonly postgres: Postgres;
  /** How long `fleet add` of all took, ms. */
  readonly addMs: number;
  /** A worker that holds what has work. */
  startWorker(name: string): Process;
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
  const env = { DATABASE_URL: url, TOKEN: `1|${"t".repeat(40)}`, SECRET: `whsec_${"s".repeat(32)}` };
  const start = (args: readonly string[], cwd: string) => startProgram(args, { folder: cwd, mostMs, env });
  const close = async () => {
    await postgres.close();
    await server.end();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    writeConfig(
      folder,
      "all",
      Array.from({ length: companies }, (_, i) => `company-${i + 1}`),
    );
    const startedMs = performance.now();
    const adding = start(["fleet", "add", "--all", "-q"], folder);
    const { code } = await adding.ended;
    const addMs = performance.now() - startedMs;
    if (code !== 0) throw new Error(`fleet add ended with ${code}: ${adding.stderr().slice(-2_000)}`);
    await postgres.query(releaseSql);
    const startWorker = (name: string) => {
      const own = path.join(folder, name);
      mkdirSync(own);
      writeConfig(own, name, []);
      return start(["worker", "--role", "work", "--listen", "127.0.0.1:0", "--log-format", "json"], own);
    };
    return { server, postgres, addMs, startWorker, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function writeConfig(folder: string, node: string, names: readonly string[]): void {
  const secrets = "token: ${env:TOKEN}, webhook: { secrets: [${env:SECRET}] }";
  const fleet = `fleet: { postgres: "\${env:DATABASE_URL}", snapshots: ${folder}, node: ${node} }`;
  const companies =
    names.length === 0 ? [] : ["companies:", ...names.map((name) => `  ${name}: { ${secrets} }`)];
  // One night for all, as most have it: every schedule is looked at all the time, and due once a day.
  const lines = [`base_url: ${nowhere}`, 'schedule: { sync: "15 3 * * *" }', fleet, ...companies, ""];
  writeFileSync(path.join(folder, "config.yaml"), lines.join("\n"), { mode: 0o600 });
}

/** Changes of each company that are published, and deliveries of the last days that are kept. */
const changesEach = 100;
const deliveriesEach = 20;

/** What a company leaves when it is released: owner, position in the inbox, pointer, change log, budget; and no job. */
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
INSERT INTO fintoro_mirror.changes (company, seq, resource, record_id, op, at, cause)
  SELECT name, n, 'invoices', (1000000 + n)::text, 'update', now(), 'webhook'
  FROM fintoro_mirror.companies, generate_series(1, ${changesEach}) n;
INSERT INTO fintoro_mirror.budgets (account, company, epoch, node, permits, last_at)
  SELECT 'account ' || md5(name), name, 3, 'worker-1', 1000, now() - interval '1 hour' FROM fintoro_mirror.companies;
UPDATE fintoro_mirror.companies SET account = md5(name);
DELETE FROM pgboss.job;
ANALYZE;`;
