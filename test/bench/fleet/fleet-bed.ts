import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { silentLog } from "../../../src/base/logger.ts";
import { openPostgres, type Postgres } from "../../../src/fleet/postgres/connection.ts";
import { migrateFleet } from "../../../src/fleet/postgres/schema.ts";
import { memoryScratch } from "../../support/memory-folder.ts";
import { startPostgres, type PostgresServer } from "../../support/postgres/server.ts";
import { endServe, startProcess, type Process } from "../../support/program/serve-process.ts";
import { treeProcessorSeconds } from "./process-cost.ts";

type Env = Readonly<Record<string, string>>;

/** A Postgres that waits for the disk, and programs of a fleet, each in a folder of its own with its config. */
export interface FleetBed {
  readonly server: PostgresServer;
  readonly postgres: Postgres;
  /** Of all those folders. */
  readonly folder: string;
  /** Runs `fleet add --all` with a config of these lines. */
  readonly add: (name: string, lines: readonly string[], env?: Env) => Promise<void>;
  /** A worker that holds what has work. */
  readonly startWorker: (name: string, env?: Env) => Process;
  /** What Postgres does during the work. */
  readonly costOf: (work: () => Promise<unknown>) => Promise<PostgresCost>;
}

interface PostgresCost {
  readonly seconds: number;
  /** All in this database, without those that count. */
  readonly statements: number;
  readonly cpuSeconds: number;
}

const mostMs = 30 * 60_000;
const counting = ["shared_preload_libraries=pg_stat_statements", "pg_stat_statements.max=5000"];
const countSql = `SELECT coalesce(sum(calls), 0)::int AS calls FROM pg_stat_statements
  WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND query NOT LIKE '%pg_stat_statements%'`;

/** Waits until it is so. Throws when it takes too long, or when the worker ends before. */
export async function until(isSo: () => Promise<boolean>, limitMs: number, worker?: Process): Promise<void> {
  let isOver = false;
  void worker?.ended.then(() => (isOver = true));
  for (const endMs = performance.now() + limitMs; !(await isSo()); await pause(200))
    if (isOver || performance.now() > endMs)
      throw new Error(`not in ${limitMs / 1_000} s: ${worker?.stderr().slice(-2_000)}`);
}

/**
 * Everything of it ends with `resources`, workers too.
 *
 * @param placesIn what the section `fleet` of each config says besides Postgres and the node, by the folder of all
 */
export async function openFleetBed(
  resources: AsyncDisposableStack,
  placesIn: (folder: string) => string,
  env: Env = {},
): Promise<FleetBed> {
  const starting = startPostgres({ durable: true, more: counting });
  const server = resources.adopt(await starting, (one) => one.end());
  const folder = resources.use(memoryScratch()).path;
  const url = await server.createDatabase();
  const opening = openPostgres({ url, node: "bench", log: silentLog, maxConnections: 2 });
  const postgres = resources.adopt(await opening, (one) => one.close());
  await migrateFleet(postgres);
  const start = (name: string, args: readonly string[], lines: readonly string[], more: Env = {}) => {
    const own = path.join(folder, name);
    mkdirSync(own);
    const section = `fleet: { postgres: "\${env:DATABASE_URL}", ${placesIn(folder)}, node: ${name} }`;
    writeFileSync(path.join(own, "config.yaml"), [section, ...lines, ""].join("\n"), { mode: 0o600 });
    const program = startProcess(args, { folder: own, mostMs, env: { DATABASE_URL: url, ...env, ...more } });
    resources.defer(async () => void (await endServe(program, "SIGKILL")));
    return program;
  };
  const add: FleetBed["add"] = async (name, lines, more) => {
    const adding = start(name, ["fleet", "add", "--all", "-q"], lines, more);
    const { code } = await adding.ended;
    if (code !== 0) throw new Error(`fleet add ended with ${code}: ${adding.stderr().slice(-2_000)}`);
  };
  const startWorker: FleetBed["startWorker"] = (name, more) =>
    start(name, ["worker", "--role", "work", "--listen", "127.0.0.1:0"], [], more);
  const costOf: FleetBed["costOf"] = async (work) => {
    await postgres.query("CREATE EXTENSION IF NOT EXISTS pg_stat_statements");
    await postgres.query("SELECT pg_stat_statements_reset()");
    const [usedBefore, startedMs] = [treeProcessorSeconds(server.pid), performance.now()];
    await work();
    const seconds = (performance.now() - startedMs) / 1_000;
    const cpuSeconds = treeProcessorSeconds(server.pid) - usedBefore;
    const [row] = await postgres.query<{ calls: number }>(countSql);
    return { seconds, statements: row?.calls ?? 0, cpuSeconds };
  };
  return { server, postgres, folder, add, startWorker, costOf };
}
