import { scenarioFromSeed } from "./scenario-from-seed.ts";
import { removeSimulations, simulateScenario, type SeedResult } from "./simulate-scenario.ts";

/** What came of some seeds, as one worker process sends it to the runner. */
export interface SeedReport {
  readonly count: number;
  readonly met: readonly (readonly [what: string, count: number])[];
  readonly requests: number;
  readonly failures: readonly Pick<SeedResult, "seed" | "broken" | "story">[];
}

/** Simulates some seeds, one after another. */
async function simulateSeeds(seeds: readonly number[]): Promise<SeedReport> {
  const met = new Map<string, number>();
  const failures: SeedResult[] = [];
  let requests = 0;
  for (const seed of seeds) {
    const result = await simulateScenario(scenarioFromSeed(seed));
    for (const [what, count] of result.met) met.set(what, (met.get(what) ?? 0) + count);
    requests += result.requests;
    if (result.broken.length > 0) failures.push(result);
  }
  return {
    count: seeds.length,
    met: [...met],
    requests,
    failures: failures.map(({ seed, broken, story }) => ({ seed, broken, story })),
  };
}

process.on("message", (seeds: readonly number[]) => {
  void simulateSeeds(seeds).then((report) => process.send?.(report));
});
process.on("disconnect", () => {
  removeSimulations();
  process.exit();
});
