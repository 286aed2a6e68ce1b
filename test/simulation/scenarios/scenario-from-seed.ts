import { denseScenario } from "./dense-scenario.ts";
import { stoppedScenario } from "./stopped-scenario.ts";
import { unusualScenario } from "./unusual-scenario.ts";
import type { Scenario } from "./scenario.ts";
import { wideScenario } from "./wide-scenario.ts";

const makers = {
  wide: wideScenario,
  dense: denseScenario,
  unusual: unusualScenario,
  stopped: stoppedScenario,
} as const;

export type Profile = keyof typeof makers;

export const profiles = Object.keys(makers) as readonly Profile[];

const profileOfTurn = ["dense", "wide", "dense", "unusual", "stopped"] as const;

/** The scenario of a seed: of this profile, else of one in turn, a dense one for two seeds of five. Pure. */
export function scenarioFromSeed(
  seed: number,
  profile: Profile = profileOfTurn[seed % profileOfTurn.length] ?? "wide",
): Scenario {
  return makers[profile](seed);
}
