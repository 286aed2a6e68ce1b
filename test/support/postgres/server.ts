import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import { memoryFolder } from "../memory-folder.ts";
import { portToKeep } from "../program/serve-process.ts";

/** A role of this name must give its password; a test that needs it creates it. */
export const guardedRole = "guarded";

const cacheFolder = fileURLToPath(new URL("../../../node_modules/.cache/", import.meta.url));
const startTimeoutMs = 20_000;

/** Postgres refuses to run as root: tests that do run it as another user. Empty: as the user of the tests. */
const runAs: Partial<UserIds> = process.getuid?.() === 0 ? otherUser() : {};

interface UserIds {
  readonly uid: number;
  readonly gid: number;
}

function otherUser(): UserIds {
  const lines = readFileSync("/etc/passwd", "utf8").split("\n");
  const users = lines.map((line) => line.split(":"));
  const user = users.find(([name]) => name === "postgres") ?? users.find(([name]) => name === "nobody");
  if (!user) throw new Error("root cannot run Postgres, and there is neither a user postgres nor nobody");
  return { uid: Number(user[2]), gid: Number(user[3]) };
}

function giveAway(folder: string): void {
  const { uid, gid } = runAs;
  if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid);
}

/** The folder with `initdb` and `postgres`; undefined: this machine has none. */
export function findPostgres(): string | undefined {
  const installed = "/usr/lib/postgresql";
  const versions = existsSync(installed) ? readdirSync(installed) : [];
  const byVersion = versions.toSorted((a, b) => Number(b) - Number(a));
  const onPath = (process.env["PATH"] ?? "").split(path.delimiter).filter((folder) => folder !== "");
  const folders = [...onPath, ...byVersion.map((version) => path.join(installed, version, "bin"))];
  return folders.find((folder) => existsSync(`${folder}/initdb`) && existsSync(`${folder}/postgres`));
}

export interface ServerOptions {
  /** Waits for the disk at each commit, as production does. Tests whose point it is need it. @default false */
  readonly durable?: boolean;
}

export async function startPostgres({ durable = false }: ServerOptions = {}): Promise<PostgresServer> {
  const programs = findPostgres();
  if (programs === undefined) throw new Error("there is no Postgres on this machine");
  const folder = mkdtempSync(path.join(durable ? os.tmpdir() : memoryFolder(), "postgres-"));
  spawnSync("cp", ["-a", templateOf(programs), path.join(folder, "data")]);
  const options = durable ? [] : careless;
  const server = new PostgresServer(programs, folder, await portToKeep(), options);
  await server.start();
  return server;
}

/** An initialized data directory to be copied: making it takes a second. */
function templateOf(programs: string): string {
  const user = String(runAs.uid ?? process.getuid?.() ?? "");
  const template = path.join(cacheFolder, `postgres-${versionOf(programs)}-${user}`);
  if (existsSync(template)) return template;
  const made = mkdtempSync(path.join(os.tmpdir(), "postgres-template-"));
  giveAway(made);
  const args = ["-D", made, "-U", "postgres", "-A", "trust", "--no-sync", "--no-locale", "-E", "UTF8"];
  const { status, stderr } = spawnSync(path.join(programs, "initdb"), [...args, "--wal-segsize=1"], {
    ...runAs,
    cwd: made,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`initdb failed: ${stderr}`);
  const access = `host all ${guardedRole} 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n`;
  writeFileSync(path.join(made, "pg_hba.conf"), access);
  mkdirSync(cacheFolder, { recursive: true });
  // Of processes that do it at the same time the first one is kept.
  const beside = `${template}-${process.pid}`;
  spawnSync("cp", ["-a", made, beside]);
  if (!existsSync(template)) renameSync(beside, template);
  for (const folder of [made, beside]) rmSync(folder, { recursive: true, force: true });
  return template;
}

function versionOf(programs: string): string {
  const { stdout } = spawnSync(path.join(programs, "postgres"), ["--version"], { encoding: "utf8" });
  return /\d+\.\d+/.exec(stdout)?.[0] ?? "";
}

/**
 * Ends the server and removes its data when the pipe from the tests closes, so that neither outlives them, however they
 * end. After a crash that a test asked for there is nobody to end, and the data stays.
 */
const guardian = `exec 3<&0
"$@" </dev/null >>log 2>&1 &
pid=$!
echo $pid
(read -r _ <&3
kill -QUIT $pid && {
  while kill -0 $pid; do sleep 0.05; done
  rm -rf "$PWD"
}) >/dev/null 2>&1 &
wait $pid`;

const settings = [
  "unix_socket_directories=",
  "listen_addresses=127.0.0.1",
  "shared_buffers=32MB",
  "max_connections=200",
  "wal_level=minimal",
  "max_wal_senders=0",
  "timezone=UTC",
  "log_min_error_statement=panic",
];
const careless = ["fsync=off", "full_page_writes=off", "autovacuum=off"];

/** A real Postgres on loopback with a data directory of its own; its superuser `postgres` has no password. */
export class PostgresServer {
  readonly port: number;
  /** The postmaster's. */
  pid = 0;
  private readonly command: readonly string[];
  private readonly folder: string;
  /** Of new databases: copying files takes half as long as logging each page, which older versions cannot. */
  private readonly strategy: string;
  private guard: ChildProcess | null = null;
  private databases = 0;

  constructor(programs: string, folder: string, port: number, more: readonly string[]) {
    this.folder = folder;
    this.port = port;
    const options = [...settings, ...more].flatMap((option) => ["-c", option]);
    this.strategy = parseFloat(versionOf(programs)) >= 15 ? "STRATEGY FILE_COPY" : "";
    this.command = [path.join(programs, "postgres"), "-D", "data", "-p", String(port), ...options];
    giveAway(folder);
  }

  url(database: string): string {
    return `postgres://postgres@127.0.0.1:${this.port}/${database}`;
  }

  /** Starts it again on the same port. */
  async start(): Promise<void> {
    const guard = spawn("sh", ["-c", guardian, "sh", ...this.command], {
      ...runAs,
      cwd: this.folder,
      stdio: ["pipe", "pipe", "inherit"],
      // Who ends all processes of a test run must not end the one that cleans up behind them.
      detached: true,
    });
    this.guard = guard;
    // Nothing of it keeps the tests' process from ending.
    guard.unref();
    const [line] = (await once(guard.stdout, "data")) as [Buffer];
    this.pid = Number(line.toString());
    const endMs = performance.now() + startTimeoutMs;
    const answers = () => this.ask("SELECT 1").then(() => true);
    while (!(await answers().catch(() => false))) {
      if (guard.exitCode !== null || performance.now() > endMs) {
        const log = readFileSync(path.join(this.folder, "log"), "utf8");
        throw new Error(`Postgres does not start: ${log.slice(-2_000)}`);
      }
      await pause(10);
    }
  }

  /** A new database, as a copy of another one where it is named. Gives its URL. */
  async createDatabase(template = "template1"): Promise<string> {
    const name = `test_${++this.databases}`;
    await this.ask(`CREATE DATABASE ${name} TEMPLATE ${template} ${this.strategy}`);
    return this.url(name);
  }

  async dropDatabase(url: string): Promise<void> {
    await this.ask(`DROP DATABASE IF EXISTS ${path.basename(url)} WITH (FORCE)`);
  }

  /** Ends it without a checkpoint, as a crash does: the next start recovers what was committed. */
  crash(): Promise<void> {
    return this.endBy("SIGQUIT");
  }

  /** Ends it as an upgrade does (`pg_ctl stop -m fast`): connections end, and all is written. */
  stop(): Promise<void> {
    return this.endBy("SIGINT");
  }

  private async endBy(signal: NodeJS.Signals): Promise<void> {
    const { guard } = this;
    if (guard === null || guard.exitCode !== null) return;
    // A process that waits for nothing else must wait for this.
    guard.ref();
    const ended = once(guard, "exit");
    process.kill(this.pid, signal);
    await ended;
    guard.stdin?.destroy();
    guard.stdout?.destroy();
    this.guard = null;
  }

  async end(): Promise<void> {
    await this.crash();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async ask(sql: string): Promise<void> {
    const client = new Client({ connectionString: this.url("postgres") });
    client.on("error", () => undefined);
    try {
      await client.connect();
      await client.query(sql);
    } finally {
      await client.end();
    }
  }
}
