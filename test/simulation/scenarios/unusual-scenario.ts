import { seededChoice, type SeededChoice } from "../../support/scenario.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { denseScenario } from "./dense-scenario.ts";
import {
  calmDeliveries,
  calmNetwork,
  oddities,
  type Activity,
  type Phase,
  type PlannedOddity,
  type Scenario,
  type TokenKind,
} from "./scenario.ts";
import { wideScenario } from "./wide-scenario.ts";

/**
 * A wide or a dense scenario in which the company's token is replaced and tokens of other companies are tried, the service
 * shows and sends what nobody expects, and deliveries come together, again and to a full disk. Pure.
 */
export function unusualScenario(seed: number): Scenario {
  const choice = seededChoice(seededRandom(seed + 1_000_000_007));
  const base = choice.probability(0.5) ? wideScenario(seed) : denseScenario(seed);
  const phases = base.phases.map((phase) => unusualPhase(choice, phase));
  const at = 1 + choice.below(phases.length);
  const withTokens = choice.probability(0.7) ? phases.toSpliced(at, 0, ...tokenPhases(choice)) : phases;
  const service = choice.probability(0.5) ? { ...base.service, ...smallBudget(choice) } : base.service;
  return { ...base, service, fresh: false, mostUnfiled: choice.one([1, 3, 8]), phases: withTokens };
}

/** The windows are used up, by the mirror alone or together with others. */
function smallBudget(choice: SeededChoice) {
  return {
    limit: choice.one([20, 30]),
    othersPerSecond: choice.one([0, 0, 0.4]),
    size: 6 + choice.below(6),
  };
}

function unusualPhase(choice: SeededChoice, phase: Phase): Phase {
  const { activity, network, deliveries, durationMs } = phase;
  const busyMs = Math.min(durationMs, 60_000);
  return {
    ...phase,
    activity: withReplay(choice, activity, busyMs),
    network: {
      ...network,
      indiscreet: choice.one([0, 0.02, 0.1]),
      answerLost: choice.one([network.answerLost, network.answerLost, 0.2]),
    },
    deliveries: {
      ...deliveries,
      doubled: choice.one([deliveries.doubled, 0.4]),
      gathered: choice.one([0, 0.5, 0.9]),
      unstorable: choice.one([0, 0.2]),
    },
    oddities: someOddities(choice, busyMs),
  };
}

function withReplay(choice: SeededChoice, activity: Activity, withinMs: number): Activity {
  if (activity.kind !== "serve" || choice.probability(0.5)) return activity;
  return { ...activity, replayAtMs: choice.below(withinMs) };
}

function someOddities(choice: SeededChoice, withinMs: number): PlannedOddity[] {
  return Array.from({ length: choice.below(6) }, () => ({
    atMs: choice.below(withinMs),
    seed: choice.below(2 ** 31),
    what: choice.one(oddities),
  })).toSorted((a, b) => a.atMs - b.atMs);
}

/** One or two processes with other tokens, while nothing else goes wrong. */
function tokenPhases(choice: SeededChoice): Phase[] {
  const kinds = choice.one<readonly TokenKind[]>([
    ["foreign"],
    ["namesake"],
    ["replaced"],
    ["namesake", "replaced"],
    ["replaced", "foreign"],
  ]);
  return kinds.map((token) => ({
    seed: choice.below(2 ** 31),
    activity: choice.probability(0.5)
      ? { kind: "serve", runAtMs: choice.one([null, 5_000]), full: false }
      : {
          kind: "sync",
          mode: choice.one(["usual", "full", "quick"]),
          scrub: false,
          mostRequests: null,
          allowMassDelete: true,
        },
    ending: { kind: "by itself" },
    durationMs: 60_000,
    changes: Array.from({ length: choice.below(4) }, () => ({
      atMs: choice.below(30_000),
      seed: choice.below(2 ** 31),
    })),
    wallJumps: [],
    network: calmNetwork,
    deliveries: calmDeliveries,
    token,
  }));
}
