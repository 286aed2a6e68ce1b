import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { benchFolder, inTurns, median, type BenchResult } from "./result.ts";

const project = fileURLToPath(new URL("../..", import.meta.url));
const rounds = 15;

/** What people wait for, by the arguments of the built program. */
const calls: Readonly<Record<string, readonly string[]>> = {
  "--version": ["--version"],
  "--help": ["--help"],
  "sync --help": ["sync", "--help"],
  "a refused config": ["sync", "--config", "refused.yaml"],
};

/** The built program's answers against `node -e 0`, each the median of 15, in turn; one round before fills the caches. */
export async function benchStartup(): Promise<BenchResult[]> {
  using folder = benchFolder();
  const cwd = folder.path;
  build(cwd);
  const env = { ...process.env, XDG_CACHE_HOME: path.join(cwd, "cache") };
  const timed = (args: readonly string[]) => () => {
    const startedMs = performance.now();
    spawnSync(process.execPath, args, { cwd, env, stdio: "ignore" });
    return Promise.resolve(performance.now() - startedMs);
  };
  const bin = path.join(cwd, "bin/fintoro-mirror.js");
  const ways = Object.entries(calls).map(([name, args]) => [name, timed([bin, ...args])] as const);
  const { empty, ...times } = await inTurns<Record<string, number>>(
    rounds,
    { empty: timed(["-e", "0"]), ...Object.fromEntries(ways) },
    1,
  );
  const emptyMs = median(empty ?? []);
  return Object.entries(times).map(([name, all]) => ({
    name: `start-up: ${name} against an empty program`,
    ratio: median(all) / emptyMs,
    aim: "at most 3.5",
    detail: `${median(all).toFixed(0)} ms, ${emptyMs.toFixed(0)} ms`,
  }));
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
