import path from "node:path";
import { Client } from "pg";
import { describe, onTestFinished } from "vitest";
import { silentLog } from "../../../src/base/logger.ts";
import { startJobEngine } from "../../../src/fleet/jobs/job-engine.ts";
import { openPostgres, type Postgres } from "../../../src/fleet/postgres/connection.ts";
import { migrateFleet } from "../../../src/fleet/postgres/schema.ts";
import { findPostgres, startPostgres, type PostgresServer, type ServerOptions } from "./server.ts";

/** Where there is no Postgres these tests are skipped, and `notice.ts` says so. */
export const describeWithPostgres = describe.runIf(findPostgres() !== undefined);

interface SharedServer {
  readonly server: PostgresServer;
  /** A database with the tables of the fleet and of its jobs, to be copied. */
  readonly template: string;
}

/** One for all test files of this process. It ends with the process. */
let shared: Promise<SharedServer> | null = null;

async function startShared(): Promise<SharedServer> {
  const server = await startPostgres();
  const url = await server.createDatabase();
  const postgres = await openPostgres(url, "template", silentLog);
  await migrateFleet(postgres);
  const engine = await startJobEngine(postgres, silentLog, false);
  await engine.stop();
  await postgres.close();
  return { server, template: path.basename(url) };
}

/** The URL of a new database, which is dropped when the test ends. @param tables with the fleet's tables? */
export async function freshDatabase({ tables = true } = {}): Promise<string> {
  shared ??= startShared();
  const { server, template } = await shared;
  const url = await server.createDatabase(tables ? template : undefined);
  onTestFinished(() => server.dropDatabase(url));
  return url;
}

/** Makes a backup of a database, ending its connections. Gives a function that restores it, once, in the same place. */
export async function backUp(url: string): Promise<() => Promise<void>> {
  const name = path.basename(url);
  const copy = `${name}_backup`;
  const alone = `ALTER DATABASE ${name} ALLOW_CONNECTIONS false;
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`;
  const admin = new Client({ connectionString: url.replace(/[^/]+$/, "postgres") });
  await admin.connect();
  onTestFinished(async () => {
    await admin.query(`DROP DATABASE IF EXISTS ${copy}`);
    await admin.end();
  });
  await admin.query(alone);
  await admin.query(`CREATE DATABASE ${copy} TEMPLATE ${name}`);
  await admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
  return async () => {
    await admin.query(alone);
    await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
    await admin.query(`ALTER DATABASE ${copy} RENAME TO ${name}`);
  };
}

/** A node's connection to a database; closed when the test ends. */
export async function connectNode(url: string, node = "node-1", maxConnections = 10): Promise<Postgres> {
  const postgres = await openPostgres(url, node, silentLog, maxConnections);
  onTestFinished(() => postgres.close());
  return postgres;
}

/** A server that only this test has, to be crashed and started again. */
export async function ownServer(options?: ServerOptions): Promise<PostgresServer> {
  const server = await startPostgres(options);
  onTestFinished(() => server.end());
  return server;
}
