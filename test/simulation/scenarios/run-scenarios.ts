import { fork } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { removeSimulations } from "../machine/simulated-disk.ts";
import { scenarioFromSeed, type Profile } from "./scenario-from-seed.ts";
import type { SeedReport } from "./scenario-worker.ts";
import { simulateScenario } from "./simulate-scenario.ts";

export interface SeedRange {
  readonly from: number;
  readonly count: number;
  readonly minutes: number;
  /** @default that of each seed */
  readonly profile: Profile | undefined;
}

/** Work of simulated processes that were killed waits for ever, with all it holds: about 2 MB a seed. */
const seedsOfWorker = 50;
/** Failing seeds after which no more are simulated. */
const mostFailures = 20;

/** Simulates many seeds on all cores and prints those that fail, the first one in full. Returns whether all went well. */
export async function runSeeds({ from, count, minutes, profile }: SeedRange): Promise<boolean> {
  const startedMs = performance.now();
  const sum = { count: 0, requests: 0 };
  const failing: number[] = [];
  const isOver = () => performance.now() >= startedMs + minutes * 60_000 || failing.length >= mostFailures;
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
export async function replaySeed(seed: number, profile?: Profile): Promise<boolean> {
  const { story, broken, traceHash } = await simulateScenario(scenarioFromSeed(seed, profile), {
    isVerbose: true,
  });
  for (const line of story) print(line);
  for (const what of broken.slice(0, 10)) print(`BROKEN ${what}`);
  print(`seed ${seed}, trace ${traceHash}: ${broken.length} broken`);
  removeSimulations();
  return broken.length === 0;
}

/** One worker process, until its seeds are simulated or `onReport` says that no more are wanted. Rejects when it dies. */
function runWorker(
  seeds: readonly (number | string)[],
  onReport: (report: SeedReport) => boolean,
): Promise<void> {
  const file = fileURLToPath(new URL("scenario-worker.ts", import.meta.url));
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
