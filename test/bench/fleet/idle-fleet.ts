import { silentLog } from "../../../src/base/logger.ts";
import { JobEngine } from "../../../src/fleet/jobs/job-engine.ts";
import type { Postgres } from "../../../src/fleet/postgres/connection.ts";
import { openFleetBed, type FleetBed } from "./fleet-bed.ts";

/** Companies in Postgres that nobody holds and that have nothing to do; no service is asked. */
export interface IdleFleet extends FleetBed {
  /** How long `fleet add` of all took, ms. */
  readonly addMs: number;
}

/** Nothing answers there: a company that is woken up would fail, and would be seen. */
const nowhere = "http://127.0.0.1:9/api";

/** Adds companies by `fleet add --all`, and gives each the rows that it has after a release. */
export async function openIdleFleet(resources: AsyncDisposableStack, companies: number): Promise<IdleFleet> {
  const env = { TOKEN: `1|${"t".repeat(40)}`, SECRET: `whsec_${"s".repeat(32)}` };
  const bed = await openFleetBed(resources, (all) => `snapshots: ${all}/snapshots`, env);
  const startedMs = performance.now();
  await bed.add("all", idleConfig(companies));
  const addMs = performance.now() - startedMs;
  await bed.postgres.query(releaseSql);
  await leaveJobs(bed.postgres);
  return { ...bed, addMs };
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
