import { parseArgs } from "node:util";
import { replaySeed, runSeeds } from "./scenarios/run-scenarios.ts";
import { profiles } from "./scenarios/scenario-from-seed.ts";
import { soak } from "./soak.ts";

/**
 * `--seeds N --minutes M --from S` simulates many seeds; `--seed S` repeats one. Seeds make dense, wide, unusual and stopped
 * scenarios in turn, unless `--profile` says which. Exits 1 if an invariant breaks. `--soak 10m` serves 50 companies for
 * so long, in a process of its own; `soak.test.ts` is its short form.
 */
const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "1000000" },
    minutes: { type: "string", default: "10" },
    from: { type: "string", default: "1" },
    seed: { type: "string" },
    profile: { type: "string" },
    soak: { type: "string" },
  },
});

const again = values.seed !== undefined;
const from = Number(values.seed ?? values.from);
const minutes = again ? Infinity : Number(values.minutes);
const wentWell = await runChosen();
process.exitCode = wentWell ? 0 : 1;

function runChosen(): Promise<boolean> {
  return values.soak === undefined ? runInMemory(Number(values.seeds)) : runSoak(values.soak);
}

async function runSoak(duration: string): Promise<boolean> {
  const durationMs = durationOf(duration);
  const roundMs = Math.max(1_000, durationMs / 600);
  const restMs = Math.min(140_000, durationMs / 4);
  const plan = { companies: 50, kills: 2, roundMs, restMs };
  const { lines, broken } = await soak({ durationMs, ...plan });
  process.stdout.write([...lines, ...broken.map((what) => `BROKEN ${what}`), ""].join("\n"));
  return broken.length === 0;
}

function durationOf(text: string): number {
  const [, number, unit] = /^(\d+)(s|m|h)$/.exec(text) ?? [];
  if (number === undefined) throw new Error(`${text} is no duration, such as 30s or 10m`);
  return Number(number) * { s: 1_000, m: 60_000, h: 3_600_000 }[unit as "s"];
}

function runInMemory(count: number): Promise<boolean> {
  const profile = profiles.find((one) => one === values.profile);
  if (values.profile !== undefined && !profile) throw new Error(`--profile is one of ${profiles.join(", ")}`);
  if (again) return replaySeed(from, profile);
  return runSeeds({ from, count, minutes, profile });
}
