import { denseScenario } from "./dense-scenario.ts";
import type { Scenario } from "./scenario.ts";
import { wideScenario } from "./wide-scenario.ts";

const makers = { wide: wideScenario, dense: denseScenario } as const;

/** Which kind of scenario a seed makes. */
export type Profile = keyof typeof makers;

/** The names of all of them. */
export const profiles = Object.keys(makers) as readonly Profile[];

/** The scenario of a seed: of this profile, else a wide one for an odd seed and a dense one for an even one. Pure. */
export function scenarioFromSeed(
  seed: number,
  profile: Profile = seed % 2 === 0 ? "dense" : "wide",
): Scenario {
  return makers[profile](seed);
}
