import { parseArgs } from "node:util";
import { scenarioFromSeed } from "../simulation/scenarios/scenario-from-seed.ts";
import { removeSimulations } from "../simulation/machine/simulation-folders.ts";
import { simulateScenario } from "../simulation/scenarios/simulate-scenario.ts";

/** Simulates the seeds from `--from N` to `--seeds N`, prints the first that breaks an invariant, and ends there. */
const { values } = parseArgs({
  options: { from: { type: "string", default: "1" }, seeds: { type: "string", default: "200" } },
});
const last = Number(values.seeds);
process.once("exit", removeSimulations);
for (let seed = Number(values.from); seed <= last && process.exitCode === undefined; seed++) {
  const { broken } = await simulateScenario(scenarioFromSeed(seed));
  const [what] = broken;
  if (what === undefined) continue;
  process.stdout.write(`seed ${seed}: ${what.split("\n", 1)[0]}\n`);
  process.exitCode = 1;
}
