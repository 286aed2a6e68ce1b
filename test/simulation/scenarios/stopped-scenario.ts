import { seededChoice, seededRandom, type SeededChoice } from "../../support/seeded-random.ts";
import { calmPhase, someChanges, someEnding, usualSync } from "./phases.ts";
import type { Phase, Scenario } from "./scenario.ts";
import { wideScenario } from "./wide-scenario.ts";

/**
 * A company with many parents, whose runs read a number of their lists each and are stopped in all ways: by a limit of
 * requests, by a time, by a signal, a kill and a crash. Now and then a wide scenario's phases come between. Pure.
 */
export function stoppedScenario(seed: number): Scenario {
  const choice = seededChoice(seededRandom(seed + 2_000_000_011));
  const base = wideScenario(seed);
  const size = 6 + choice.below(8);
  const first = choice.probability(0.5) ? [calmPhase(choice, usualSync)] : [];
  const stops = Array.from({ length: 4 + choice.below(6) }, () => stoppedPhase(choice));
  const others = choice.probability(0.3) ? base.phases.slice(1) : [];
  return {
    ...base,
    service: { ...base.service, size },
    parentsPerRun: choice.one([1, 3, 8, 50, "all"]),
    phases: [...first, ...stops, ...others],
  };
}

/** A run that mostly does not come to its end. */
function stoppedPhase(choice: SeededChoice): Phase {
  const isLimited = choice.probability(0.4);
  const activity = {
    ...usualSync,
    scrub: choice.probability(0.3),
    mostRequests: isLimited ? 2 + choice.below(choice.one([6, 25])) : null,
  };
  const ending = someEnding(choice, {
    kinds: isLimited ? ["by itself"] : ["by itself", "crash", "crash", "killed", "stopped", "stopped"],
    atMs: () => choice.below(6_000),
    power: 0.3,
    now: 0.5,
  });
  const changes = choice.probability(0.3) ? someChanges(choice, 2, () => choice.below(5_000)) : [];
  const byMs = choice.one([-26 * 3_600_000, -60_000, 3_600_000]);
  const wallJumps = choice.probability(0.1) ? [{ atMs: choice.below(5_000), byMs }] : [];
  return { ...calmPhase(choice, activity), ending, changes, wallJumps };
}
