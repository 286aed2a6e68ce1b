import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { MirrorError } from "../../base/errors.ts";
import type { CompanyReport } from "../../sync/report.ts";

/** Where the demo plays: a folder with a config, and this very program as a process of its own. */
export interface Stage {
  readonly folder: string;
  readonly database: string;
  /** Runs `sync --json` to its end. */
  sync(): Promise<CompanyReport>;
  /** Runs `sync` and kills it, without warning, as soon as `when` says so. Returns whether it was still alive. */
  syncAndKill(when: () => Promise<boolean>): Promise<boolean>;
}

const company = "acme";
const marker = ".fintoro-mirror-demo";

/** Empties and sets up the folder; one with other people's files in it is refused. */
export function setUpStage(folder: string, baseUrl: string, token: string): Stage {
  claim(folder);
  writeFileSync(path.join(folder, marker), "made by `fintoro-mirror demo`; may be deleted\n");
  const config = path.join(folder, "config.yaml");
  const lines = [
    `base_url: ${baseUrl}`,
    "data_dir: .",
    "companies:",
    `  ${company}: { token: "\${env:DEMO_TOKEN}" }`,
  ];
  writeFileSync(config, `${lines.join("\n")}\n`);
  const start = () => startSync(config, token);
  return {
    folder,
    database: path.join(folder, `${company}.db`),
    sync: async () => {
      const { child, output } = start();
      await new Promise((resolve) => child.once("close", resolve));
      const reports = JSON.parse(output.stdout || "{}") as { companies?: Record<string, CompanyReport> };
      const report = reports.companies?.[company];
      if (!report) throw new MirrorError("protocol", `the sync of the demo failed: ${output.stderr.trim()}`);
      return report;
    },
    syncAndKill: async (when) => {
      const { child } = start();
      const ended = new Promise((resolve) => child.once("close", resolve));
      while (child.exitCode === null && !(await when()));
      const alive = child.exitCode === null;
      child.kill("SIGKILL");
      await ended;
      return alive;
    },
  };
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

function startSync(config: string, token: string) {
  const args = [entry(), "sync", "--json", "--config", config, "--log-format", "json", "-q"];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, DEMO_TOKEN: token },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk: Buffer) => (output.stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output.stderr += chunk.toString()));
  return { child, output };
}

/** The source runs as `.ts`, the built package as `.js`. */
function entry(): string {
  const ending = path.extname(fileURLToPath(import.meta.url));
  return fileURLToPath(new URL(`../../main${ending}`, import.meta.url));
}
