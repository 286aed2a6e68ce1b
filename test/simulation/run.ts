import { fork } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { parseDurationMs } from "../../src/base/units.ts";
import { removeSimulations } from "./machine/simulated-disk.ts";
import { profiles, scenarioFromSeed, type Profile } from "./scenarios/scenario-from-seed.ts";
import type { SeedReport } from "./scenarios/scenario-worker.ts";
import { simulateScenario } from "./scenarios/simulate-scenario.ts";
import { soak } from "./soak.ts";

/**
 * `--seeds N --minutes M --from S` simulates many seeds; `--seed S` repeats one. Seeds make dense, wide, unusual and stopped
 * scenarios in turn, unless `--profile` says which. Exits 1 if an invariant breaks, and after so many `--failures` at once.
 * `--soak 10m` serves 50 companies for so long, in a process of its own; `soak.test.ts` is its short form.
 */
const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "1000000" },
    minutes: { type: "string", default: "10" },
    from: { type: "string", default: "1" },
    seed: { type: "string" },
    profile: { type: "string" },
    failures: { type: "string", default: "20" },
    soak: { type: "string" },
  },
});

/** Work of simulated processes that were killed waits for ever, with all it holds: about 2 MB a seed. */
const seedsOfWorker = 50;

const wentWell = await (values.soak === undefined ? runInMemory() : runSoak(values.soak));
process.exitCode = wentWell ? 0 : 1;

async function runSoak(duration: string): Promise<boolean> {
  const durationMs = parseDurationMs(duration);
  if (durationMs === null) throw new Error(`${duration} is no duration, such as 30s or 10m`);
  const roundMs = Math.max(1_000, durationMs / 600);
  const restMs = Math.min(140_000, durationMs / 4);
  const { lines, broken } = await soak({ durationMs, companies: 50, kills: 2, roundMs, restMs });
  process.stdout.write([...lines, ...broken.map((what) => `BROKEN ${what}`), ""].join("\n"));
  return broken.length === 0;
}

function runInMemory(): Promise<boolean> {
  const profile = profiles.find((one) => one === values.profile);
  if (values.profile !== undefined && !profile) throw new Error(`--profile is one of ${profiles.join(", ")}`);
  return values.seed === undefined ? runSeeds(profile) : replaySeed(Number(values.seed), profile);
}

/** Simulates many seeds on all cores and prints those that fail, the first one in full. Returns whether all went well. */
async function runSeeds(profile: Profile | undefined): Promise<boolean> {
  const [from, count] = [Number(values.from), Number(values.seeds)];
  const endMs = performance.now() + Number(values.minutes) * 60_000;
  const sum = { count: 0, requests: 0 };
  const failing: number[] = [];
  const isOver = () => performance.now() >= endMs || failing.length >= Number(values.failures);
  const onReport = ({ seed, broken, requests }: SeedReport) => {
    sum.count += 1;
    sum.requests += requests;
    if (broken.length > 0) {
      failing.push(seed);
      print(`seed ${seed}: ${broken[0]}`);
    }
    if (sum.count % seedsOfWorker === 0) process.stderr.write(`${sum.count} of ${count} seeds\n`);
    return !isOver();
  };
  let next = from;
  const runAll = async () => {
    while (next < from + count && !isOver()) {
      const seeds = [next, Math.min(seedsOfWorker, from + count - next)] as const;
      next += seedsOfWorker;
      await runWorker([...seeds, ...(profile ? [profile] : [])], onReport);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, runAll));
  if (failing.length > 0) await replaySeed(Math.min(...failing), profile);
  print(`${sum.count} seeds from ${from}, ${sum.requests} requests: ${failing.length} broken`);
  removeSimulations();
  return failing.length === 0;
}

/** Simulates one seed again, and prints its whole story. Returns whether it went well. */
async function replaySeed(seed: number, profile: Profile | undefined): Promise<boolean> {
  const scenario = scenarioFromSeed(seed, profile);
  const { story, broken } = await simulateScenario(scenario, { isVerbose: true });
  for (const line of story) print(line);
  for (const what of broken.slice(0, 10)) print(`BROKEN ${what}`);
  print(`seed ${seed}: ${broken.length} broken`);
  removeSimulations();
  return broken.length === 0;
}

/** One worker process, until its seeds are simulated or `onReport` says that no more are wanted. Rejects when it dies. */
function runWorker(
  seeds: readonly (number | string)[],
  onReport: (report: SeedReport) => boolean,
): Promise<void> {
  const file = fileURLToPath(new URL("scenarios/scenario-worker.ts", import.meta.url));
  const worker = fork(file, seeds.map(String));
  worker.on("message", (report) => {
    if (!onReport(report as SeedReport) && worker.connected) worker.disconnect();
  });
  return new Promise((resolve, reject) => {
    worker.on("exit", (code) => {
      if (code === 0) resolve();
      else reject(new Error(`the worker of the seeds ${seeds.join(", ")} ended with ${code}`));
    });
  });
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
