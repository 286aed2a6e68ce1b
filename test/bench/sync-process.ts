import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { startSandbox, type Sandbox } from "../support/sandbox/control.ts";
import type { SandboxOptions } from "../../connectors/fintoro/sandbox/sandbox.ts";
import type { CompanyReport } from "../../src/sync/context/run-report.ts";

/** A sandbox in this process, and a folder in which the real command syncs from it as a process of its own. */
export interface SyncBench {
  readonly sandbox: Sandbox;
  readonly database: string;
  sync(...args: string[]): Promise<CompanyReport>;
  close(): Promise<void>;
}

export async function setUpSync(options: SandboxOptions, config = ""): Promise<SyncBench> {
  const sandbox = await startSandbox(options);
  const folder = mkdtempSync(path.join(tmpdir(), "fintoro-mirror-bench-"));
  const file = path.join(folder, "config.yaml");
  const lines = [
    `base_url: ${sandbox.url}`,
    "data_dir: .",
    "companies:",
    `  acme: { token: "\${env:BENCH_TOKEN}" }`,
    config,
  ];
  writeFileSync(file, `${lines.join("\n")}\n`);
  return {
    sandbox,
    database: path.join(folder, "acme.db"),
    sync: (...args) => runSync(sandbox, file, args),
    close: async () => {
      await sandbox.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function runSync(sandbox: Sandbox, file: string, args: readonly string[]): Promise<CompanyReport> {
  const command = [
    new URL("../../src/main.ts", import.meta.url).pathname,
    "sync",
    "--json",
    "-q",
    "--config",
    file,
    ...args,
  ];
  const env = { ...process.env, BENCH_TOKEN: sandbox.token };
  const child = spawn(process.execPath, command, { env, stdio: ["ignore", "pipe", "inherit"] });
  let stdout = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  await new Promise((resolve) => child.once("close", resolve));
  const { companies } = JSON.parse(stdout) as { companies: { acme: CompanyReport } };
  return companies.acme;
}
