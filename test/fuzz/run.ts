import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { configWithToken } from "./config.ts";
import { exportTargets } from "./export.ts";
import type { FuzzTarget } from "./fuzz-target.ts";
import { jsonTargets } from "./json.ts";

/** The tests run each once with a fixed seed. */
const allTargets: readonly FuzzTarget[] = [
  ...Object.values({ ...exportTargets, ...jsonTargets }),
  configWithToken,
];

/**
 * `--minutes M` runs rounds of every target with seeds of their own, the one with the least time so far first; `--only
 * NAME` those whose name begins so; `--seed S` repeats one round of each. A counterexample is printed with its seed,
 * its target rests from then on, and the exit code is 1.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "5" },
    only: { type: "string", default: "" },
    seed: { type: "string" },
  },
});

interface Tally {
  readonly target: FuzzTarget;
  rounds: number;
  spentMs: number;
  broken: boolean;
}

const tallies: Tally[] = allTargets
  .filter(({ name }) => name.startsWith(values.only))
  .map((target) => ({ target, rounds: 0, spentMs: 0, broken: false }));
if (tallies.length === 0) throw new Error(`no target's name begins with ${values.only}`);

if (values.seed !== undefined) {
  for (const tally of tallies) await runRound(tally, Number(values.seed));
} else {
  const endMs = performance.now() + Number(values.minutes) * 60_000;
  while (performance.now() < endMs) {
    const [next] = tallies.filter(({ broken }) => !broken).toSorted((a, b) => a.spentMs - b.spentMs);
    if (!next) break;
    await runRound(next, randomInt(2 ** 31));
  }
}
for (const { target, rounds, spentMs, broken } of tallies) {
  const runs = (rounds * target.runs).toLocaleString("en");
  print(`${broken ? "BROKEN" : "holds "} ${target.name}: ${runs} inputs in ${(spentMs / 1000).toFixed(0)} s`);
}
process.exitCode = tallies.some(({ broken }) => broken) ? 1 : 0;

async function runRound(tally: Tally, seed: number): Promise<void> {
  const { target } = tally;
  const startedMs = performance.now();
  try {
    await target.round(seed);
  } catch (error) {
    tally.broken = true;
    print(`${target.name}: ${error instanceof Error ? error.message : String(error)}`);
    print(`again: npm run fuzz -- --only ${target.name} --seed ${seed}\n`);
  }
  tally.rounds++;
  tally.spentMs += performance.now() - startedMs;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
