import { hourMs, minuteMs } from "../../../src/base/clock.ts";
import { seededChoice, seededRandom, type SeededChoice } from "../../support/seeded-random.ts";
import { limiterKinds } from "../../support/rate-limit/simulated-budget.ts";
import { someChanges, someEnding, usualSync } from "./phases.ts";
import { calmDeliveries, calmNetwork } from "./scenario.ts";
import type { Activity, DeliveryFaults, Ending, NetworkFaults, Phase, Scenario } from "./scenario.ts";

/** A scenario of many kinds of faults and options, with pauses of up to days, and few changes at a time. Pure. */
export function wideScenario(seed: number): Scenario {
  const choice = seededChoice(seededRandom(seed));
  const first = firstPhase(choice);
  const more = Array.from({ length: 1 + choice.below(3) }, () => phase(choice));
  return {
    seed,
    service: serviceOptions(choice),
    fresh: choice.probability(0.04),
    phases: [first, ...more],
    restsBesideServe: choice.probability(0.5),
  };
}

function serviceOptions(choice: SeededChoice): Scenario["service"] {
  return {
    size: 3 + choice.below(6),
    limiter: choice.one(limiterKinds),
    limit: choice.one([20, 40, 60, 120]),
    othersPerSecond: choice.one([0, 0, 0, 0.1, 0.5]),
    lag: choice.one(["none", "none", "commit", "replica"]),
    lagMs: choice.one([500, 5_000, 20_000]),
    mostPerPage: choice.one([500, 500, 3, 7]),
    refusesSort: choice.probability(0.15),
    shufflesTies: choice.probability(0.15),
    deletion: choice.one(["hard", "soft"]),
    refusal: choice.one([404, 422]),
    amountsAsText: choice.probability(0.2),
    stuckPages: choice.one([0, 0, 0, 0.1, 0.5]),
    silentShare: choice.one([0, 0.2, 0.5]),
  };
}

/** Mostly a run that reads everything, so that the rest has something to start from. */
function firstPhase(choice: SeededChoice): Phase {
  const calm = choice.probability(0.5);
  const made = phase(choice);
  const activity = { ...usualSync, allowMassDelete: false };
  return calm ? { ...made, activity, ending: { kind: "by itself" }, network: calmNetwork } : made;
}

function phase(choice: SeededChoice): Phase {
  const activity = someActivity(choice);
  const durationMs = duration(choice, activity);
  const busyMs = activity.kind === "sync" ? 20_000 : Math.min(durationMs, 5 * minuteMs);
  return {
    seed: choice.below(2 ** 31),
    activity,
    ending: activity.kind === "down" ? { kind: "by itself" } : ending(choice, durationMs),
    durationMs,
    changes: someChanges(choice, choice.below(choice.one([3, 12])), () => choice.below(busyMs)),
    wallJumps: choice.probability(0.15) ? [wallJump(choice, busyMs)] : [],
    network: networkFaults(choice),
    deliveries: deliveryFaults(choice),
  };
}

function someActivity(choice: SeededChoice): Activity {
  const kind = choice.one(["sync", "sync", "serve", "serve", "serve", "down"] as const);
  if (kind === "down") return { kind };
  if (kind === "serve")
    return {
      kind,
      runAtMs: choice.probability(0.6) ? choice.below(minuteMs) : null,
      full: choice.probability(0.2),
    };
  return {
    kind,
    mode: choice.one(["usual", "usual", "usual", "full", "quick"]),
    scrub: choice.probability(0.3),
    mostRequests: choice.probability(0.15) ? 1 + choice.below(40) : null,
    allowMassDelete: choice.probability(0.5),
  };
}

function duration(choice: SeededChoice, { kind }: Activity): number {
  if (kind === "serve") return choice.one([20_000, 90_000, 5 * minuteMs]);
  return choice.one([1_000, minuteMs, hourMs, 8 * hourMs, 30 * hourMs]);
}

function ending(choice: SeededChoice, durationMs: number): Ending {
  return someEnding(choice, {
    kinds: ["by itself", "crash", "crash", "crash", "killed", "stopped"],
    atMs: () => choice.below(Math.min(durationMs, minuteMs)),
    power: 0.4,
    now: 0.5,
  });
}

function wallJump(choice: SeededChoice, withinMs: number) {
  const byMs = choice.one([-26 * hourMs, -hourMs, -90_000, -2_000, 2_000, 90_000, hourMs, 26 * hourMs]);
  return { atMs: choice.below(withinMs), byMs };
}

function networkFaults(choice: SeededChoice): NetworkFaults {
  if (choice.probability(0.4)) return calmNetwork;
  const share = () => choice.one([0, 0, 0.02, 0.1]);
  return {
    ...calmNetwork,
    lost: choice.one([0, 0, 0.03]),
    answerLost: choice.one([0, 0, 0.03]),
    reset: share(),
    odd: share(),
    slow: share(),
    brokenRoute: choice.probability(0.06) ? choice.one(["invoices", "clients", "price-list-items"]) : null,
  };
}

function deliveryFaults(choice: SeededChoice): DeliveryFaults {
  if (choice.probability(0.4)) return calmDeliveries;
  const share = () => choice.one([0, 0.1, 0.3]);
  return {
    ...calmDeliveries,
    lost: share(),
    answerLost: share(),
    doubled: share(),
    late: share(),
    forged: share(),
  };
}
