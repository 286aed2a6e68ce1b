import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { portToKeep, startProgram, type Process } from "../../support/program/serve-process.ts";
import type { Moment } from "./judge-takeovers.ts";
import type { Stop } from "./judge-requests.ts";
import { processUrl } from "./write-oracle.ts";

const tag = new URL("tag-requests.ts", import.meta.url).href;

/** What a node is started with. */
export interface NodeOptions {
  readonly name: string;
  readonly role: "all" | "work" | "receive";
  /** Its own; the config and the mirrors are in it. */
  readonly folder: string;
  readonly postgresUrl: string;
  /** Folders that all nodes share. */
  readonly snapshots: string;
  readonly reports: string;
  readonly capacity: number;
  readonly snapshotEvery: string;
  readonly mostMs: number;
}

/** One node of a fleet: its processes one after another, and what was done to them. */
export class WorkerNode {
  readonly options: NodeOptions;
  readonly port: number;
  readonly kills: Moment[] = [];
  readonly stops: Stop[] = [];
  /** Processes that ended although nobody ended them, or not as they should. */
  readonly problems: string[] = [];
  readonly #ended: Process[] = [];
  #current: Process | null = null;
  #count = 0;

  private constructor(options: NodeOptions, port: number) {
    this.options = options;
    this.port = port;
  }

  /** Writes its config; starts nothing. */
  static async prepare(options: NodeOptions): Promise<WorkerNode> {
    const { folder, name, snapshots, reports, capacity, snapshotEvery } = options;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const fleet = [
      "  postgres: ${env:DATABASE_URL}",
      `  snapshots: ${snapshots}`,
      `  reports: ${reports}`,
      `  node: ${name}`,
      `  capacity: ${capacity}`,
      `  snapshot_every: ${snapshotEvery}`,
    ];
    const lines = ["data_dir: data", "fleet:", ...fleet, ""];
    writeFileSync(path.join(folder, "config.yaml"), lines.join("\n"), { mode: 0o600 });
    return new WorkerNode(options, await portToKeep());
  }

  /** Of the process that runs now, or ran last. */
  get process(): string {
    return `${this.options.name}.${this.#count}`;
  }

  get pid(): number {
    return this.#current?.child.pid ?? 0;
  }

  /** Where a company's mirror is while this node has it. */
  mirror(company: string): string {
    return path.join(this.options.folder, "data", `${company}.db`);
  }

  /** What all its processes wrote to stderr. */
  log(): string {
    return [...this.#ended, ...(this.#current ? [this.#current] : [])].map((one) => one.stderr()).join("");
  }

  /** Does nothing where it runs: one that took long to end may be started by two disturbances. */
  start(): void {
    if (this.#current) return;
    this.#count++;
    const { folder, role, postgresUrl, mostMs } = this.options;
    const args = ["worker", "--role", role, "--listen", `127.0.0.1:${this.port}`, "--log-format", "json"];
    const env = { DATABASE_URL: processUrl(postgresUrl, this.process), CHAOS_PROCESS: this.process };
    const started = startProgram(args, { folder, mostMs, env, nodeOptions: ["--import", tag] });
    this.#current = started;
    void this.#watch(started);
  }

  async #watch(started: Process): Promise<void> {
    const { code, signal } = await started.ended;
    if (this.#current !== started) return;
    this.problems.push(`${this.process} ended by itself with ${code ?? signal}: ${tail(started)}`);
    this.#take();
  }

  /** Without a time to do anything. */
  async kill(): Promise<void> {
    const current = this.#take();
    if (!current) return;
    this.kills.push({ process: this.process, atMs: Date.now() });
    current.child.kill("SIGKILL");
    await current.ended;
  }

  async stop(forMs: number): Promise<void> {
    const [{ process }, fromMs, child] = [this, Date.now(), this.#current?.child];
    child?.kill("SIGSTOP");
    await pause(forMs);
    const untilMs = Date.now();
    child?.kill("SIGCONT");
    this.stops.push({ process, fromMs, untilMs });
  }

  /** As a rollout ends it: it releases what it holds. */
  async terminate(): Promise<void> {
    const current = this.#take();
    if (!current) return;
    current.child.kill("SIGTERM");
    const { code, signal } = await current.ended;
    if (code !== 0)
      this.problems.push(`${this.process}: SIGTERM ended with ${code ?? signal}: ${tail(current)}`);
  }

  #take(): Process | null {
    const current = this.#current;
    this.#current = null;
    if (current) this.#ended.push(current);
    return current;
  }
}

function tail(process: Process): string {
  return process.stderr().slice(-1_500);
}
