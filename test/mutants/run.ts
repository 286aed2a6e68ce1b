import { spawn } from "node:child_process";
import { parseArgs } from "node:util";
import { memoryFolder } from "../support/memory-folder.ts";
import { outputOf } from "../support/program/process-env.ts";
import type { PlantedFault } from "./planted-fault.ts";
import { plantedFaults } from "./planted-faults.ts";
import { copyProject } from "./project-copy.ts";

/**
 * Plants each fault in a copy of the project, runs the tests that it names and the simulation over it, and prints who
 * found it. `--only ID` (more than once): these alone; `--tests`, `--simulation`: one of both; `--minutes M`: at most,
 * for its seeds. Exits 1 when the simulation misses one that it can find, or the tests find fewer than nine in ten. Without a
 * fault all of them must go well: what fails anyway counts as found.
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
const results: Found[] = [];
for (const [i, fault] of chosen.entries()) {
  const startedMs = performance.now();
  const found = await findIn(fault);
  results.push(found);
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  process.stderr.write(`${i + 1} of ${chosen.length}, ${seconds} s: ${lineOf(found)}\n`);
}
process.stdout.write(`${["fault | invariant | tests | simulation", ...results.map(lineOf)].join("\n")}\n`);
process.exitCode = summary() ? 0 : 1;

async function findIn(fault: PlantedFault): Promise<Found> {
  const remove = copy.plant(fault);
  const byTests = withTests ? await findByTests(fault) : undefined;
  const isSimulated = withSimulation && fault.outsideSimulation === undefined;
  const bySimulation = isSimulated ? await findBySimulation() : undefined;
  remove();
  return { fault, byTests, bySimulation };
}

/** Tests that do not end in time show nothing. */
async function findByTests({ tests }: PlantedFault): Promise<Finding> {
  const { folder } = copy;
  const args = ["run", ...tests, "--bail=1", "--maxWorkers=1", "--reporter=dot", "--no-color"];
  const limits = { folder, timeoutMs: 240_000 };
  const { code, output } = await runBounded([`${folder}/node_modules/vitest/vitest.mjs`, ...args], limits);
  if (code === 0 || code === null) return notFound();
  const [, failed] = /^ FAIL .*?(test\/.*)$/m.exec(output) ?? [];
  return failed === undefined ? notFound(`: no test failed, and ${output}`) : { isFound: true, text: failed };
}

/** Simulates seeds until an invariant breaks. Seeds that do not end in time show nothing. */
async function findBySimulation(): Promise<Finding> {
  const { seeds, minutes } = values;
  const args = ["test/simulation/run.ts", "--seeds", seeds, "--minutes", minutes, "--failures", "1"];
  const limits = { folder: copy.folder, timeoutMs: 2 * Number(minutes) * 60_000 };
  const { code, output } = await runBounded(args, limits);
  const [line = "a seed that ends the process"] = /^seed \d+: .*$/m.exec(output) ?? [];
  if (code !== 0 && code !== null) return { isFound: true, text: line.slice(0, 100) };
  return notFound(`: ${output.trimEnd().split("\n").at(-1)}`);
}

/** How a process ended; `code` is null when its time was over and it was killed. */
interface BoundedEnd {
  readonly code: number | null;
  readonly output: string;
}

/** Runs a program of Node with a bounded time, then kills it with all that it started. */
function runBounded(
  args: readonly string[],
  { folder, timeoutMs }: { readonly folder: string; readonly timeoutMs: number },
): Promise<BoundedEnd> {
  const { promise, resolve } = Promise.withResolvers<BoundedEnd>();
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { ...process.env, TMPDIR: memoryFolder() },
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const written = outputOf(child);
  const kill = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended.
    }
  };
  const timer = setTimeout(kill, timeoutMs);
  process.once("exit", kill);
  child.on("close", (code) => {
    clearTimeout(timer);
    process.off("exit", kill);
    kill();
    resolve({ code, output: written.stdout + written.stderr });
  });
  return promise;
}

function notFound(why = ""): Finding {
  return { isFound: false, text: `NOT FOUND${why}` };
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
