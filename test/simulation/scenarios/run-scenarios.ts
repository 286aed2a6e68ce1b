import { fork } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { neverMet } from "./expected-paths.ts";
import { scenarioFromSeed, type Profile } from "./scenario-from-seed.ts";
import type { Scenario } from "./scenario.ts";
import type { SeedReport, SeedTask } from "./scenario-worker.ts";
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

const seedsAtOnce = 5;
/** Work of simulated processes that were killed waits for ever, with all it holds: about 2 MB a seed. */
const tasksOfWorker = 60;
const progressEveryMs = 5_000;
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
  const endMs = startedMs + minutes * 60_000;
  const sum: Sum = { count: 0, requests: 0, met: new Map(), failures: [] };
  const seconds = () => Math.max(0.001, (performance.now() - startedMs) / 1000);
  const progress = setInterval(() => {
    const perSecond = (sum.count / seconds()).toFixed(1);
    process.stderr.write(
      `${sum.count} of ${count} seeds, ${perSecond} a second, ${sum.failures.length} broken\n`,
    );
  }, progressEveryMs);
  let next = from;
  const take = (): SeedTask => {
    if (performance.now() >= endMs || sum.failures.length >= 20) return { seeds: [] };
    const seeds = Array.from({ length: Math.min(seedsAtOnce, from + count - next) }, (_, i) => next + i);
    next += seeds.length;
    return { seeds, profile };
  };
  const runAll = async () => {
    while (await runWorker(take, (report) => add(sum, report)));
  };
  await Promise.all(Array.from({ length: workers }, runAll));
  clearInterval(progress);
  const failures = sum.failures.toSorted((a, b) => a.seed - b.seed);
  for (const failure of failures.slice(0, mostPrinted)) await printFailure(failure.seed, profile);
  for (const { seed, broken } of failures.slice(mostPrinted)) print(`seed ${seed}: ${broken[0]}`);
  printMet(sum.met);
  const missing = profile === undefined ? neverMet(sum.met, sum.count) : [];
  for (const what of missing) print(`never met: ${what}`);
  const rate = `${(sum.count / seconds()).toFixed(1)} a second on ${workers} cores`;
  print(`${sum.count} seeds from ${from}, ${sum.requests} requests, ${rate}: ${failures.length} broken`);
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
  readonly failures: SeedReport["failures"][number][];
}

function add(sum: Sum, report: SeedReport): void {
  sum.count += report.count;
  sum.requests += report.requests;
  sum.failures.push(...report.failures);
  for (const { seed, broken } of report.failures) process.stderr.write(`seed ${seed}: ${broken[0]}\n`);
  for (const [what, times] of report.met) sum.met.set(what, (sum.met.get(what) ?? 0) + times);
}

/** One worker process. Resolves to whether there may be more to take; rejects when it dies. */
function runWorker(take: () => SeedTask, onReport: (report: SeedReport) => void): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const worker = fork(fileURLToPath(new URL("scenario-worker.ts", import.meta.url)));
    let task: SeedTask = { seeds: [] };
    let tasks = 0;
    const goOn = () => {
      task = tasks++ < tasksOfWorker ? take() : { seeds: [] };
      if (task.seeds.length > 0) worker.send(task);
      else worker.disconnect();
    };
    worker.on("message", (report) => {
      onReport(report as SeedReport);
      goOn();
    });
    worker.on("exit", (code) => {
      if (task.seeds.length === 0) resolve(tasks > tasksOfWorker);
      else reject(new Error(`a worker ended with ${code} at one of the seeds ${task.seeds.join(", ")}`));
    });
    goOn();
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
