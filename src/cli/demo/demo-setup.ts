import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { MirrorError } from "../../base/errors.ts";
import type { CompanyReport } from "../../sync/context/run-report.ts";
import type { CommandContext, DemoChange, RunningSandbox } from "../program/command.ts";
import { DemoProcesses, failedCommand } from "./demo-processes.ts";

export const demoCompany = "acme";
/** Variable with the token that may write, for `webhooks create` alone. */
export const writeTokenVariable = "DEMO_WRITE_TOKEN";
const marker = ".fintoro-mirror-demo";

/** What the sandbox has sent to receivers so far. */
interface Deliveries {
  readonly events: number;
  /** Events that a receiver answered with 2xx. */
  readonly delivered: number;
  readonly attempts: number;
  /** Attempts without such an answer. */
  readonly failed: number;
}

type Parts = Pick<CommandContext, "clock" | "random" | "log" | "version" | "signal" | "connectors">;

/** What the steps of the demo work with: a folder with a config, commands as processes, and the sandbox. */
export class DemoSetup {
  readonly folder: string;
  readonly database: string;
  readonly report: string;
  /** Where `webhooks create` stores the secret. */
  readonly secret: string;
  readonly processes: DemoProcesses;
  /** Prints a line for the reader. */
  readonly print: (line: string) => Promise<void>;
  private readonly parts: Parts;
  private readonly sandbox: RunningSandbox;

  /**
   * Empties the folder and writes a config into it.
   * @throws MirrorError `usage` when it holds files that no demo made
   */
  constructor(parts: Parts, sandbox: RunningSandbox, folder: string, print: (line: string) => Promise<void>) {
    emptyFolder(folder);
    const inFolder = (name: string) => path.join(folder, name);
    this.folder = folder;
    this.database = inFolder(`${demoCompany}.db`);
    this.report = inFolder(`${demoCompany}.report.db`);
    this.secret = inFolder(`${demoCompany}.webhook-secret`);
    this.print = print;
    this.parts = parts;
    this.sandbox = sandbox;
    writeFileSync(inFolder(marker), "made by `fintoro-mirror demo`; may be deleted\n");
    this.writeConfig([]);
    this.processes = new DemoProcesses(inFolder("config.yaml"), {
      DEMO_TOKEN: sandbox.companies[0]?.readToken ?? sandbox.token,
      [writeTokenVariable]: sandbox.token,
    });
  }

  /** Runs `sync` to its end. */
  async sync(): Promise<CompanyReport> {
    const sync = this.processes.start(["sync"]);
    await sync.ended;
    const reports = JSON.parse(sync.stdout || "{}") as { companies?: Record<string, CompanyReport> };
    const report = reports.companies?.[demoCompany];
    if (!report) throw failedCommand(["sync"], sync);
    return report;
  }

  /** Makes `serve` listen on a free port, and deliveries go there. */
  async receive(): Promise<void> {
    const port = await this.freePort();
    this.writeConfig([
      "    webhook:",
      `      secrets: ["\${file:./${demoCompany}.webhook-secret}"]`,
      `      public_url: http://127.0.0.1:${port}/webhooks/${demoCompany}`,
      `serve: { listen: "127.0.0.1:${port}" }`,
    ]);
  }

  /** Requests that the sandbox has answered so far. */
  requests(): number {
    return this.sandbox.requestCount();
  }

  deliveries(): Deliveries {
    const attempts = this.sandbox.attempts();
    const good = attempts.filter(({ outcome }) => outcome === "delivered");
    return {
      events: new Set(attempts.map(({ eventId }) => eventId)).size,
      delivered: new Set(good.map(({ eventId }) => eventId)).size,
      attempts: attempts.length,
      failed: attempts.length - good.length,
    };
  }

  /** Changes that can be made at the service now. */
  changes(): readonly DemoChange[] {
    return this.sandbox.changes();
  }

  /** Monotonic time. */
  nowMs(): number {
    return this.parts.clock.monotonicMs();
  }

  /** @throws MirrorError `stopped` when the demo is to stop */
  async sleep(ms: number): Promise<void> {
    await this.parts.clock.sleep(ms, this.parts.signal);
    if (this.parts.signal.aborted) throw new MirrorError("stopped", "the demo was stopped");
  }

  /** Waits until `isSo` holds; false when it did not within the time. */
  async waitUntil(isSo: () => boolean, withinMs: number): Promise<boolean> {
    for (const endMs = this.nowMs() + withinMs; this.nowMs() < endMs; await this.sleep(5))
      if (isSo()) return true;
    return isSo();
  }

  /** Ends every process that still runs. */
  close(): Promise<void> {
    return this.processes.stop();
  }

  private writeConfig(more: readonly string[]): void {
    const head = [`base_url: ${this.sandbox.url}`, "data_dir: .", "companies:", `  ${demoCompany}:`];
    const lines = [...head, `    token: "\${env:DEMO_TOKEN}"`, ...more];
    writeFileSync(path.join(this.folder, "config.yaml"), `${lines.join("\n")}\n`);
  }

  /** Not of the range that systems give out: the port stays free while `serve` is killed and started again. */
  private async freePort(): Promise<number> {
    for (let tries = 0; tries < 100; tries++) {
      const port = 20_000 + Math.floor(this.parts.random.next() * 12_000);
      if (await isFree(port)) return port;
    }
    throw new MirrorError("usage", "no port from 20000 to 32000 is free");
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

function emptyFolder(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const files = readdirSync(folder);
  if (files.length > 0 && !files.includes(marker))
    throw new MirrorError("usage", `${folder} holds other files`, {
      hint: "name an empty folder with --out",
    });
  for (const file of files) rmSync(path.join(folder, file), { recursive: true, force: true });
}
