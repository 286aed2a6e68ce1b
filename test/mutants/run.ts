import { parseArgs } from "node:util";
import { firstFailure, type FailedTest } from "./first-failure.ts";
import type { PlantedFault } from "./planted-fault.ts";
import { plantedFaults } from "./planted-faults.ts";
import { copyProject, type ProjectCopy } from "./project-copy.ts";
import { runBounded } from "./run-bounded.ts";

/**
 * Plants each fault in a copy of the project, runs the tests that it names and the simulation over it, and prints who
 * found it. `--only ID` (more than once): these alone; `--tests`, `--simulation`: one of both; `--minutes M`: at most,
 * for its seeds. Exits 1 when the simulation misses one that it can find, or the tests find fewer than nine in ten.
 */
const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true },
    tests: { type: "boolean", default: false },
    simulation: { type: "boolean", default: false },
    minutes: { type: "string", default: "5" },
    seeds: { type: "string", default: "200" },
  },
});
const { only: chosenIds } = values;
const both = values.tests === values.simulation;
const withTests = both || values.tests;
const withSimulation = both || values.simulation;

/** What shows a fault, or why nothing does. */
interface Finding {
  readonly isFound: boolean;
  readonly text: string;
}

/** Who found a fault; undefined: not asked. */
interface Found {
  readonly fault: PlantedFault;
  readonly byTests: Finding | undefined;
  readonly bySimulation: Finding | undefined;
}

const chosen = plantedFaults.filter(({ id }) => chosenIds?.includes(id) ?? true);
if (chosen.length === 0) throw new Error(`there is no planted fault ${chosenIds?.join(", ")}`);
const copy = copyProject();
process.once("exit", () => copy.remove());
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
const failing = new Map<string, boolean>();
const results: Found[] = [];
for (const [i, fault] of chosen.entries()) {
  const startedMs = performance.now();
  const found = await findIn(copy, fault);
  results.push(found);
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  process.stderr.write(`${i + 1} of ${chosen.length}, ${seconds} s: ${lineOf(found)}\n`);
}
process.stdout.write(`${["fault | invariant | tests | simulation", ...results.map(lineOf)].join("\n")}\n`);
process.exitCode = summary() ? 0 : 1;

async function findIn(project: ProjectCopy, fault: PlantedFault): Promise<Found> {
  const remove = project.plant(fault);
  const isSimulated = withSimulation && fault.outsideSimulation === undefined;
  const failed = withTests ? await firstFailure(project.folder, fault.tests) : undefined;
  const limits = { seeds: Number(values.seeds), timeoutMs: Number(values.minutes) * 60_000 };
  const simulated = isSimulated ? await findBySimulation(project.folder, limits) : undefined;
  remove();
  return {
    fault,
    byTests: failed === undefined ? undefined : await judgeTest(project, failed),
    bySimulation: simulated && (await judgeSeeds(project, simulated)),
  };
}

async function judgeTest({ folder }: ProjectCopy, failed: FailedTest | null): Promise<Finding> {
  if (!failed) return notFound("");
  const { file, name } = failed;
  const isSound = await showsFault(file, async () => (await firstFailure(folder, [file])) !== null);
  return isSound ? { isFound: true, text: `${file} > ${name}` } : notFound(`${file} fails anyway`);
}

async function judgeSeeds({ folder }: ProjectCopy, end: BrokenSeed | CleanSeeds): Promise<Finding> {
  if ("clean" in end)
    return notFound(end.isOver ? `the time was over after ${end.clean} seeds` : `${end.clean} clean seeds`);
  const seed = `seed ${end.seed ?? 1}`;
  const isSound = await showsFault(seed, () => breaksAnyway(folder, end.seed));
  return isSound ? { isFound: true, text: end.what } : notFound(`${seed} breaks anyway`);
}

function notFound(why: string): Finding {
  return { isFound: false, text: why === "" ? "NOT FOUND" : `NOT FOUND: ${why}` };
}

/** Does it show the fault: does it not fail without it? Asked once. */
async function showsFault(what: string, failsWithout: () => Promise<boolean>): Promise<boolean> {
  if (!failing.has(what)) failing.set(what, await failsWithout());
  const isSound = failing.get(what) === false;
  if (!isSound) process.stderr.write(`${what} fails without the fault, too\n`);
  return isSound;
}

function lineOf({ fault, byTests, bySimulation }: Found): string {
  const declared = withSimulation && fault.outsideSimulation ? `- (${fault.outsideSimulation})` : null;
  const shown = [byTests?.text ?? "-", declared ?? bySimulation?.text ?? "-"];
  return [fault.id, fault.invariant ?? "-", ...shown].join(" | ");
}

function summary(): boolean {
  const [tests, simulation] = [countOf("byTests"), countOf("bySimulation")];
  process.stdout.write(`tests found ${tests.found} of ${tests.asked}\n`);
  const declared = withSimulation ? results.filter(({ fault }) => fault.outsideSimulation).length : 0;
  process.stdout.write(
    `the simulation found ${simulation.found} of ${simulation.asked}; ${declared} are declared to be outside it\n`,
  );
  return tests.found >= 0.9 * tests.asked && simulation.found === simulation.asked;
}

function countOf(by: "byTests" | "bySimulation") {
  const asked = results.flatMap((one) => one[by] ?? []);
  return { asked: asked.length, found: asked.filter(({ isFound }) => isFound).length };
}

/** What a simulation of some seeds found; `seed` is null where the process ended without naming one. */
interface BrokenSeed {
  readonly seed: number | null;
  readonly what: string;
}

/** No seed broke. `isOver`: there was no time for more. */
interface CleanSeeds {
  readonly clean: number;
  readonly isOver: boolean;
}

/**
 * Simulates seeds over a planted fault until an invariant breaks. Seeds that do not end in time show nothing.
 *
 * @param from the first seed, `seeds` the last
 */
async function findBySimulation(
  folder: string,
  {
    from = 1,
    seeds,
    timeoutMs,
  }: { readonly from?: number; readonly seeds: number; readonly timeoutMs: number },
): Promise<BrokenSeed | CleanSeeds> {
  const args = ["test/mutants/first-broken-seed.ts", "--from", String(from), "--seeds", String(seeds)];
  const { code, output } = await runBounded(args, { folder, timeoutMs });
  const clean = output.match(/^clean \d+$/gm)?.length ?? 0;
  if (code === 0 || code === null) return { clean, isOver: code === null };
  const [line, seed] = /^seed (\d+): .*$/m.exec(output) ?? [];
  if (line === undefined) return { seed: null, what: "a seed that ends the process" };
  return { seed: Number(seed), what: line.slice(0, 100) };
}

/** Does this seed break an invariant without a fault, too? Then it shows none. Null: does the first one? */
async function breaksAnyway(folder: string, seed: number | null): Promise<boolean> {
  const only = seed ?? 1;
  return "what" in (await findBySimulation(folder, { from: only, seeds: only, timeoutMs: 120_000 }));
}
