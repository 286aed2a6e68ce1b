import { parseArgs } from "node:util";
import { scenarioFromSeed } from "../simulation/scenarios/scenario-from-seed.ts";
import { removeSimulations } from "../simulation/machine/simulated-disk.ts";
import { simulateScenario } from "../simulation/scenarios/simulate-scenario.ts";

/** Simulates the seeds from `--from N` to `--seeds N`, prints how each went, and ends with the first that breaks an invariant. */
const { values } = parseArgs({
  options: { from: { type: "string", default: "1" }, seeds: { type: "string", default: "200" } },
});
const last = Number(values.seeds);
process.once("exit", removeSimulations);
for (let seed = Number(values.from); seed <= last && process.exitCode === undefined; seed++) {
  const { broken } = await simulateScenario(scenarioFromSeed(seed));
  const [what] = broken;
  const line = what === undefined ? `clean ${seed}` : `seed ${seed}: ${what.split("\n", 1)[0]}`;
  process.stdout.write(`${line}\n`);
  if (what !== undefined) process.exitCode = 1;
}
