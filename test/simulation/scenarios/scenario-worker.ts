import { scenarioFromSeed, type Profile } from "./scenario-from-seed.ts";
import { removeSimulations } from "../machine/simulation-folders.ts";
import { simulateScenario, type SeedResult } from "./simulate-scenario.ts";

/** What came of some seeds, as one worker process sends it to the runner. */
export interface SeedReport {
  readonly count: number;
  readonly met: readonly (readonly [what: string, count: number])[];
  readonly requests: number;
  readonly failures: readonly Pick<SeedResult, "seed" | "broken" | "story">[];
}

/** What a worker process is asked to simulate; without a profile each seed has its own. */
export interface SeedTask {
  readonly seeds: readonly number[];
  readonly profile?: Profile | undefined;
}

/** Simulates some seeds, one after another. */
async function simulateSeeds({ seeds, profile }: SeedTask): Promise<SeedReport> {
  const met = new Map<string, number>();
  const failures: SeedResult[] = [];
  let requests = 0;
  for (const seed of seeds) {
    const result = await simulateScenario(scenarioFromSeed(seed, profile));
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

process.on("message", (task: SeedTask) => {
  void simulateSeeds(task).then((report) => process.send?.(report));
});
process.on("disconnect", () => {
  removeSimulations();
  process.exit();
});
