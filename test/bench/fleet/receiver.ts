import { fork } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock } from "../../../src/base/clock.ts";
import { silentLog } from "../../../src/base/logger.ts";
import { JobEngine } from "../../../src/fleet/jobs/job-engine.ts";
import { CompaniesTable } from "../../../src/fleet/postgres/tables/companies-table.ts";
import { openPostgres } from "../../../src/fleet/postgres/connection.ts";
import { OwnersTable } from "../../../src/fleet/postgres/tables/owners-table.ts";
import { migrateFleet } from "../../../src/fleet/postgres/schema.ts";
import { startServer } from "../../../src/server/server.ts";
import { fleetCompanies } from "../../support/fleet/companies.ts";
import { findPostgres, startPostgres } from "../../support/postgres/server.ts";
import { load, logToFile, ratioOf, realSide, run, secret, summaryOf, type Side } from "../receiver.ts";
import { benchFolder, inTurns, type BenchResult } from "../result.ts";

const rounds = 5;
/** Of one round. */
const requests = 4_000;

/** A receiver of a fleet over a Postgres on this machine that waits for the disk. The company is owned. */
async function fleetSide(folder: string): Promise<Side & { stored(): Promise<number> }> {
  const own = await startPostgres({ durable: true });
  const clock = systemClock;
  const { log, close } = logToFile(path.join(folder, "fleet-log"));
  const postgres = await openPostgres({ url: await own.createDatabase(), node: "bench", log });
  await migrateFleet(postgres);
  const engine = await JobEngine.start(postgres, silentLog, false);
  const table = new CompaniesTable(postgres);
  const owners = new OwnersTable(postgres);
  await table.put("acme", { companies: { acme: { webhook: { secrets: ["${env:SECRET}"] } } } });
  await owners.claim("acme", "bench", 3_600_000);
  const closing = new AbortController();
  const companies = fleetCompanies({
    postgres,
    sendJob: (sql, company) => engine.send("events", [company], sql),
    secrets: { env: { SECRET: secret }, folder, readFile: () => "" },
    log,
    closed: closing.signal,
  });
  await companies.refresh();
  const server = await startServer({ host: "127.0.0.1", port: 0, companies, clock, pages: {}, log });
  return {
    port: server.port,
    stored: async () => {
      const rows = await postgres.query<{ count: number }>("SELECT count(*) FROM fintoro_mirror.inbox");
      return rows[0]?.count ?? 0;
    },
    close: async () => {
      closing.abort();
      await server.close(1_000);
      await engine.stop();
      await postgres.close();
      await own.end();
      close();
    },
  };
}

/**
 * Deliveries durable in Postgres against deliveries durable in a SQLite mirror, with their work. Postgres and the load
 * share the cores with the receiver.
 */
export async function benchFleetReceiver(): Promise<BenchResult[]> {
  const name = "deliveries of a fleet stored, against those of serve";
  const aim = "at least 0.5";
  if (findPostgres() === undefined)
    return [{ name, ratio: Number.NaN, aim, detail: "there is no Postgres on this machine" }];
  await using resources = new AsyncDisposableStack();
  const folder = resources.use(benchFolder()).path;
  const child = fork(fileURLToPath(new URL("../receiver-load.ts", import.meta.url)));
  resources.defer(() => void child.kill());
  const serve = resources.adopt(await realSide(folder), (one) => one.close());
  const fleet = resources.adopt(await fleetSide(folder), (one) => one.close());
  const ways = {
    serve: () => run(child, serve.port, { requests }),
    fleet: () => run(child, fleet.port, { requests }),
  };
  const results = await inTurns(rounds, ways, 1);
  const expected = (rounds + 1) * requests;
  const stored = await fleet.stored();
  if (stored !== expected) throw new Error(`${stored} of ${expected} deliveries are stored`);
  const ratio = ratioOf(results.fleet, results.serve, ({ perSecond }) => perSecond);
  const both = `${summaryOf("fleet", results.fleet)}; ${summaryOf("serve", results.serve)}`;
  return [{ name, ratio, aim, detail: `${both}; ${load.connections} connections` }];
}
