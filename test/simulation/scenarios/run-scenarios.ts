import { fork } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { neverMet } from "./expected-paths.ts";
import { scenarioFromSeed, type Profile } from "./scenario-from-seed.ts";
import type { Scenario } from "./scenario.ts";
import type { SeedReport } from "./scenario-worker.ts";
import { shrink } from "./shrink.ts";
import { removeSimulations } from "../machine/simulation-folders.ts";
import { simulateScenario, type SeedResult } from "./simulate-scenario.ts";

/** Which seeds, and for how long. */
export interface SeedRange {
  readonly from: number;
  readonly count: number;
  readonly minutes: number;
  /** @default one for each core */
  readonly workers?: number;
  /** @default that of each seed */
  readonly profile?: Profile | undefined;
}

/** Work of simulated processes that were killed waits for ever, with all it holds: about 2 MB a seed. */
const seedsOfWorker = 50;
/** Failing seeds after which no more are simulated. */
const mostFailures = 20;
/** Failing seeds that are shrunk and printed in full. */
const mostPrinted = 3;

/** Simulates many seeds on all cores and prints what was met. Returns whether all went well. */
export async function runSeeds({
  from,
  count,
  minutes,
  profile,
  workers = availableParallelism(),
}: SeedRange): Promise<boolean> {
  const startedMs = performance.now();
  const sum: Sum = { count: 0, requests: 0, met: new Map(), failures: [] };
  const rate = () => `${((1000 * sum.count) / (performance.now() - startedMs)).toFixed(1)} a second`;
  const isOver = () =>
    performance.now() >= startedMs + minutes * 60_000 || sum.failures.length >= mostFailures;
  const onReport = (report: SeedReport) => {
    add(sum, report);
    if (sum.count % seedsOfWorker === 0)
      process.stderr.write(`${sum.count} of ${count} seeds, ${rate()}, ${sum.failures.length} broken\n`);
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
  await Promise.all(Array.from({ length: workers }, runAll));
  const failures = sum.failures.toSorted((a, b) => a.seed - b.seed);
  for (const failure of failures.slice(0, mostPrinted)) await printFailure(failure.seed, profile);
  for (const { seed, broken } of failures.slice(mostPrinted)) print(`seed ${seed}: ${broken[0]}`);
  printMet(sum.met);
  const missing = profile === undefined ? neverMet(sum.met, sum.count) : [];
  for (const what of missing) print(`never met: ${what}`);
  print(
    `${sum.count} seeds from ${from}, ${sum.requests} requests, ${rate()} on ${workers} cores: ${failures.length} broken`,
  );
  removeSimulations();
  return failures.length === 0 && missing.length === 0;
}

/** Simulates one seed again, and prints its whole story. Returns whether it went well. */
export async function replaySeed(seed: number, profile?: Profile): Promise<boolean> {
  const { broken, story, traceHash } = await simulateScenario(scenarioFromSeed(seed, profile), {
    isVerbose: true,
  });
  for (const line of story) print(line);
  for (const what of broken) print(`BROKEN ${what}`);
  print(
    `seed ${seed}, trace ${traceHash}: ${broken.length === 0 ? "nothing broken" : `${broken.length} broken`}`,
  );
  removeSimulations();
  return broken.length === 0;
}

interface Sum {
  count: number;
  requests: number;
  readonly met: Map<string, number>;
  readonly failures: SeedReport[];
}

function add(sum: Sum, report: SeedReport): void {
  const { seed, broken, requests, met } = report;
  sum.count += 1;
  sum.requests += requests;
  for (const [what, times] of met) sum.met.set(what, (sum.met.get(what) ?? 0) + times);
  if (broken.length === 0) return;
  sum.failures.push(report);
  process.stderr.write(`seed ${seed}: ${broken[0]}\n`);
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

async function printFailure(seed: number, profile: Profile | undefined): Promise<void> {
  const scenario = scenarioFromSeed(seed, profile);
  const whole = await simulateScenario(scenario);
  const kind = kindOf(whole);
  const fails = async (candidate: Scenario) => {
    const result = await simulateScenario(candidate);
    return result.broken.length > 0 && kindOf(result) === kind;
  };
  const smallest = whole.broken.length > 0 ? await shrink(scenario, fails) : scenario;
  const { story, broken } = await simulateScenario(smallest);
  print(`seed ${seed}`);
  for (const what of whole.broken.slice(0, 10)) print(`  BROKEN ${what}`);
  print(`  shrunk to ${JSON.stringify(smallest)}`);
  for (const line of story) print(`    ${line}`);
  for (const what of broken.slice(0, 10)) print(`    BROKEN ${what}`);
  print(`  replay: npm run simulate -- --seed ${seed}${profile ? ` --profile ${profile}` : ""}`);
}

/** The invariant, or the first words: what a smaller scenario must show too. */
function kindOf({ broken }: Pick<SeedResult, "broken">): string {
  return (broken[0] ?? "").split(" ", 2).join(" ");
}

function printMet(met: ReadonlyMap<string, number>): void {
  for (const [what, times] of [...met].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    print(`${String(times).padStart(9)} ${what}`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
