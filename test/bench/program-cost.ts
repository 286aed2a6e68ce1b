import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { endOf, firstLine } from "../support/program/cli.ts";
import { peakBytesIn, peakReporter } from "../support/program/peak-memory.ts";
import { benchFolder } from "./result.ts";

/** As users run it: the built program where there is one. */
const program = fileURLToPath(new URL("../../bin/fintoro-mirror.js", import.meta.url));

/** A folder with the config of a company whose service is a sandbox in a process of its own. */
export interface ServedCompany {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
}

/** What a command took, start-up and threads included. */
export interface ProgramCost {
  readonly cpuMs: number;
  readonly peakBytes: number;
  readonly stdout: string;
}

export async function withCompany<T>(
  records: number,
  use: (company: ServedCompany) => Promise<T>,
): Promise<T> {
  using scratch = benchFolder();
  const folder = scratch.path;
  const args = ["sandbox", "--json", "--port", "0", "--limit", "1000000", "--records", String(records)];
  const service = spawn(process.execPath, ["--max-old-space-size=12000", program, ...args], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  try {
    const { url, token } = JSON.parse(await firstLine(service)) as { url: string; token: string };
    const company = `companies: { acme: { token: "\${env:BENCH_TOKEN}" } }`;
    const rest = "schedule: { sync: off, publish: off }";
    writeFileSync(path.join(folder, "config.yaml"), `base_url: ${url}\ndata_dir: .\n${company}\n${rest}\n`);
    return await use({ folder, env: { ...process.env, BENCH_TOKEN: token } });
  } finally {
    service.kill("SIGKILL");
  }
}

/** Starts the program in the company's folder. Its errors are shown. */
export function startIn(
  { folder, env }: ServedCompany,
  args: readonly string[],
  nodeOptions: readonly string[] = [],
): ChildProcess {
  return spawn(process.execPath, [...nodeOptions, program, ...args], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
}

export async function costOf(company: ServedCompany, args: readonly string[]): Promise<ProgramCost> {
  const noted = path.join(company.folder, "peak");
  const child = startIn(company, args, ["--import", peakReporter(noted)]);
  const { code, stdout } = await endOf(child);
  // 3: not whole, as a run with a limit of requests is.
  if (code !== 0 && code !== 3) throw new Error(`${args.join(" ")} ended with ${code}: ${stdout}`);
  const cpuMs = Number(/^cpu (\d+)$/m.exec(readFileSync(noted, "utf8"))?.[1]) / 1000;
  return { cpuMs, peakBytes: peakBytesIn(noted), stdout };
}
