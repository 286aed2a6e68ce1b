import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { MirrorError } from "../../base/errors.ts";
import type { CompanyReport } from "../../sync/context/run-report.ts";
import { failed, ChildProcesses, type DemoProcess } from "./child-processes.ts";

/** Where the demo plays: a folder with a config, and this very program as processes of its own. */
export interface DemoSetup {
  readonly folder: string;
  readonly database: string;
  /** Where `webhooks create` stores the secret. */
  readonly secret: string;
  readonly report: string;
  /** Runs `sync` to its end. */
  sync(): Promise<CompanyReport>;
  /** Runs `sync` and kills it, without warning, as soon as `when` says so. Returns whether it was still alive. */
  syncAndKill(when: () => Promise<boolean>): Promise<boolean>;
  /** Writes the config anew: `serve` listens on this port, and deliveries go there. */
  receiveOn(port: number): void;
  start(args: readonly string[]): DemoProcess;
  run<T>(args: readonly string[]): Promise<T>;
  /** Ends every process that still runs. */
  close(): Promise<void>;
}

export interface DemoSetupFacts {
  readonly folder: string;
  readonly baseUrl: string;
  /** The mirror's own, which may only read. */
  readonly readToken: string;
  /** For `webhooks create` alone. */
  readonly writeToken: string;
}

export const company = "acme";
export const writeTokenVariable = "DEMO_WRITE_TOKEN";
const marker = ".fintoro-mirror-demo";

/** Empties and sets up the folder; one with other people's files in it is refused. */
export function setUpDemo({ folder, baseUrl, readToken, writeToken }: DemoSetupFacts): DemoSetup {
  claim(folder);
  writeFileSync(path.join(folder, marker), "made by `fintoro-mirror demo`; may be deleted\n");
  const config = path.join(folder, "config.yaml");
  const start = [`base_url: ${baseUrl}`, "data_dir: .", "companies:", `  ${company}:`];
  const lines = [...start, `    token: "\${env:DEMO_TOKEN}"`];
  writeFileSync(config, `${lines.join("\n")}\n`);
  const troupe = new ChildProcesses(config, { DEMO_TOKEN: readToken, [writeTokenVariable]: writeToken });
  return {
    folder,
    database: path.join(folder, `${company}.db`),
    secret: path.join(folder, `${company}.webhook-secret`),
    report: path.join(folder, `${company}.report.db`),
    sync: () => syncedBy(troupe),
    syncAndKill: (when) => syncKilled(troupe, when),
    receiveOn: (port) => writeFileSync(config, `${[...lines, ...webhookLines(port)].join("\n")}\n`),
    start: (args) => troupe.start(args),
    run: (args) => troupe.run(args),
    close: () => troupe.end(),
  };
}

function webhookLines(port: number): string[] {
  return [
    "    webhook:",
    `      secrets: ["\${file:./${company}.webhook-secret}"]`,
    `      public_url: http://127.0.0.1:${port}/webhooks/${company}`,
    `serve: { listen: "127.0.0.1:${port}" }`,
  ];
}

async function syncedBy(troupe: ChildProcesses): Promise<CompanyReport> {
  const player = troupe.start(["sync"]);
  await player.ended;
  const reports = JSON.parse(player.stdout() || "{}") as { companies?: Record<string, CompanyReport> };
  const report = reports.companies?.[company];
  if (!report) throw failed(["sync"], player);
  return report;
}

async function syncKilled(troupe: ChildProcesses, when: () => Promise<boolean>): Promise<boolean> {
  const player = troupe.start(["sync"]);
  while (!player.isOver() && !(await when()));
  const alive = !player.isOver();
  player.child.kill("SIGKILL");
  await player.ended;
  return alive;
}

function claim(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const files = readdirSync(folder);
  if (files.length > 0 && !files.includes(marker)) {
    throw new MirrorError("usage", `${folder} holds other files`, {
      hint: "name an empty folder with --out",
    });
  }
  for (const file of files) rmSync(path.join(folder, file), { recursive: true, force: true });
}
