import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { benchFolder, inTurns, median, timed, type BenchResult } from "./result.ts";

const project = fileURLToPath(new URL("../..", import.meta.url));
const rounds = 15;

/** How soon the built program refuses a config, against `node -e 0`: medians of 15, in turn; one round before fills the caches. */
export async function benchStartup(): Promise<BenchResult[]> {
  using folder = benchFolder();
  const cwd = folder.path;
  build(cwd);
  const env = { ...process.env, XDG_CACHE_HOME: path.join(cwd, "cache") };
  const run = (args: readonly string[]) => spawnSync(process.execPath, args, { cwd, env, stdio: "ignore" });
  const wallMsOf = async (...args: string[]) => (await timed(() => run(args))).wallMs;
  const bin = path.join(cwd, "bin/fintoro-mirror.js");
  const refused = () => wallMsOf(bin, "sync", "--config", "refused.yaml");
  const times = await inTurns(rounds, { refused, empty: () => wallMsOf("-e", "0") }, 1);
  const [refusedMs, emptyMs] = [median(times.refused), median(times.empty)];
  const detail = `${refusedMs.toFixed(0)} ms, ${emptyMs.toFixed(0)} ms`;
  const name = "start-up: a refused config against an empty program";
  return [{ name, ratio: refusedMs / emptyMs, aim: "at most 3.5", detail }];
}

/** As `npm pack` would install it: compiled, beside its libraries. */
function build(folder: string): void {
  const out = path.join(folder, "dist");
  execFileSync(process.execPath, [path.join(project, "scripts/build.ts"), out], { cwd: project });
  for (const part of ["bin", "package.json"])
    cpSync(path.join(project, part), path.join(folder, part), { recursive: true });
  symlinkSync(path.join(project, "node_modules"), path.join(folder, "node_modules"));
  writeFileSync(path.join(folder, "refused.yaml"), "companiez: {}\n");
}
