import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { silentLog } from "../../../src/base/logger.ts";
import { openPostgres, type Postgres } from "../../../src/fleet/postgres/connection.ts";
import { migrateFleet } from "../../../src/fleet/postgres/schema.ts";
import { memoryFolder } from "../../support/memory-folder.ts";
import { startPostgres, type PostgresServer } from "../../support/postgres/server.ts";
import { endServe, startProgram, type Process } from "../../support/program/serve-process.ts";
import { countingSettings } from "./statement-count.ts";

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
}

const mostMs = 30 * 60_000;

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
  const starting = startPostgres({ durable: true, more: countingSettings });
  const server = resources.adopt(await starting, (one) => one.end());
  const folder = mkdtempSync(path.join(memoryFolder(), "fintoro-mirror-fleet-"));
  resources.defer(() => rmSync(folder, { recursive: true, force: true }));
  const url = await server.createDatabase();
  const opening = openPostgres({ url, node: "bench", log: silentLog, maxConnections: 2 });
  const postgres = resources.adopt(await opening, (one) => one.close());
  await migrateFleet(postgres);
  const start = (name: string, args: readonly string[], lines: readonly string[], more: Env = {}) => {
    const own = path.join(folder, name);
    mkdirSync(own);
    const section = `fleet: { postgres: "\${env:DATABASE_URL}", ${placesIn(folder)}, node: ${name} }`;
    writeFileSync(path.join(own, "config.yaml"), [section, ...lines, ""].join("\n"), { mode: 0o600 });
    const program = startProgram(args, { folder: own, mostMs, env: { DATABASE_URL: url, ...env, ...more } });
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
  return { server, postgres, folder, add, startWorker };
}
