import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { median, type BenchResult } from "./result.ts";

const project = fileURLToPath(new URL("../..", import.meta.url));
const rounds = 15;

/** What people wait for, by the arguments of the built program. */
const calls: Readonly<Record<string, readonly string[]>> = {
  "--version": ["--version"],
  "--help": ["--help"],
  "sync --help": ["sync", "--help"],
  "a refused config": ["sync", "--config", "refused.yaml"],
};

/** The built program's answers against `node -e 0`, each the median of 15, in turn. */
export function benchStartup(): Promise<BenchResult[]> {
  const folder = mkdtempSync(path.join(tmpdir(), "fintoro-mirror-bench-"));
  try {
    build(folder);
    const bin = path.join(folder, "bin/fintoro-mirror.js");
    const args = new Map([["node -e 0", ["-e", "0"]]]);
    for (const [name, words] of Object.entries(calls)) args.set(name, [bin, ...words]);
    const times = timesOf(args, folder);
    const emptyMs = median(times.get("node -e 0") ?? []);
    return Promise.resolve(
      Object.keys(calls).map((name) => {
        const tookMs = median(times.get(name) ?? []);
        return {
          name: `start-up: ${name} against an empty program`,
          ratio: tookMs / emptyMs,
          aim: "at most 3.5",
          detail: `${tookMs.toFixed(0)} ms, ${emptyMs.toFixed(0)} ms`,
        };
      }),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
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

/** Wall-clock times in ms. The round before the first one fills the caches. */
function timesOf(programs: ReadonlyMap<string, readonly string[]>, cwd: string): Map<string, number[]> {
  const times = new Map<string, number[]>();
  const env = { ...process.env, XDG_CACHE_HOME: path.join(cwd, "cache") };
  for (let round = 0; round <= rounds; round++) {
    for (const [name, args] of programs) {
      const startedMs = performance.now();
      spawnSync(process.execPath, args, { cwd, env, stdio: "ignore" });
      if (round > 0) times.set(name, [...(times.get(name) ?? []), performance.now() - startedMs]);
    }
  }
  return times;
}
