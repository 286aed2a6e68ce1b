import { parseArgs } from "node:util";
import { messageOf } from "../../src/base/errors.ts";
import { simulateEvents } from "./event-simulation.ts";
import { lookText, type QuietLook } from "./checks/soak-judgement.ts";
import { replaySeed, runSeeds } from "./scenarios/run-scenarios.ts";
import { profiles } from "./scenarios/scenario-from-seed.ts";
import { soak } from "./soak.ts";
import { simulate, type SimulationResult } from "./sync-simulation.ts";

/**
 * `--seeds N --minutes M --from S` simulates many seeds; `--seed S` repeats one. Seeds make dense, wide, unusual and stopped
 * scenarios in turn, unless `--profile` says which. Exits 1 if an invariant breaks. With
 * `--http` each seed syncs all resources of the sandbox over HTTP; with `--events` it simulates `serve` and its
 * webhooks, in processes of their own. `--soak 10m` serves 50 companies for so long; `soak.test.ts` is its short form.
 */
const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "1000000" },
    minutes: { type: "string", default: "10" },
    from: { type: "string", default: "1" },
    seed: { type: "string" },
    workers: { type: "string" },
    profile: { type: "string" },
    http: { type: "boolean", default: false },
    events: { type: "boolean", default: false },
    soak: { type: "string" },
  },
});

const again = values.seed !== undefined;
const from = Number(values.seed ?? values.from);
const minutes = again ? Infinity : Number(values.minutes);
const wentWell = await runChosen();
process.exitCode = wentWell ? 0 : 1;

function runChosen(): Promise<boolean> {
  if (values.soak !== undefined) return runSoak(values.soak);
  const count = Number(values.seeds);
  return values.http || values.events ? runOneByOne(again ? 1 : count) : runInMemory(count);
}

async function runSoak(duration: string): Promise<boolean> {
  const durationMs = durationOf(duration);
  const roundMs = Math.max(1_000, durationMs / 600);
  const restMs = Math.min(140_000, durationMs / 4);
  const plan = { companies: 50, kills: 2, roundMs, quietLooks: 10, restMs, onLook };
  const { lines, broken } = await soak({ durationMs, ...plan });
  process.stdout.write([...lines, ...broken.map((what) => `BROKEN ${what}`), ""].join("\n"));
  return broken.length === 0;
}

function durationOf(text: string): number {
  const [, number, unit] = /^(\d+)(s|m|h)$/.exec(text) ?? [];
  if (number === undefined) throw new Error(`${text} is no duration, such as 30s or 10m`);
  return Number(number) * { s: 1_000, m: 60_000, h: 3_600_000 }[unit as "s"];
}

function onLook(look: QuietLook): void {
  process.stderr.write(`${lookText(look)}\n`);
}

function runInMemory(count: number): Promise<boolean> {
  const profile = profiles.find((one) => one === values.profile);
  if (values.profile !== undefined && !profile) throw new Error(`--profile is one of ${profiles.join(", ")}`);
  if (again) return replaySeed(from, profile);
  const workers = values.workers === undefined ? {} : { workers: Number(values.workers) };
  return runSeeds({ from, count, minutes, profile, ...workers });
}

async function runOneByOne(most: number): Promise<boolean> {
  const endMs = performance.now() + minutes * 60_000;
  let broken = 0;
  let count = 0;
  for (let seed = from; seed < from + most && performance.now() < endMs; seed++) {
    const result = await runSeed(seed);
    count += 1;
    if (result.broken.length > 0) broken += 1;
    if (result.broken.length > 0 || again) print(result);
  }
  process.stdout.write(`${count} seeds from ${from}, ${broken} broken\n`);
  return broken === 0;
}

async function runSeed(seed: number): Promise<SimulationResult> {
  try {
    return await (values.events ? simulateEvents(seed) : simulate(seed));
  } catch (error) {
    const stack = error instanceof Error ? error.stack : undefined;
    return { seed, events: [], broken: [stack ?? messageOf(error)] };
  }
}

function print({ seed, events, broken: what }: SimulationResult): void {
  const lines = [
    `seed ${seed}`,
    ...events.map((event) => `  ${event}`),
    ...what.map((one) => `  BROKEN ${one}`),
  ];
  const option = values.events ? "--events" : "--http";
  process.stdout.write(`${lines.join("\n")}\n  replay: npm run simulate -- ${option} --seed ${seed}\n`);
}
