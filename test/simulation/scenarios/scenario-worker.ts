import { removeSimulations } from "../machine/simulated-disk.ts";
import { scenarioFromSeed, type Profile } from "./scenario-from-seed.ts";
import { simulateScenario } from "./simulate-scenario.ts";

export interface SeedReport {
  readonly seed: number;
  readonly broken: readonly string[];
  readonly requests: number;
}

process.once("disconnect", () => {
  removeSimulations();
  process.exit();
});

/** `FROM COUNT [PROFILE]`: simulates so many seeds; without a profile each has its own. */
const [from, count, profile] = process.argv.slice(2);
for (let seed = Number(from); seed < Number(from) + Number(count); seed++) {
  const scenario = scenarioFromSeed(seed, profile as Profile | undefined);
  const { broken, requests } = await simulateScenario(scenario);
  process.send?.({ seed, broken, requests } satisfies SeedReport);
}
process.disconnect();
