import { minuteMs } from "../../../src/base/clock.ts";
import { seededChoice, seededRandom, type SeededChoice } from "../../support/seeded-random.ts";
import { limiterKinds } from "../../support/rate-limit/simulated-budget.ts";
import { hotTables } from "../service/record-changes.ts";
import { byTime, calmPhase, recheckMs, someChanges, someEnding, usualSync } from "./phases.ts";
import {
  calmDeliveries,
  calmNetwork,
  type PlannedChange,
  type Activity,
  type DeliveryFaults,
  type Ending,
  type NetworkFaults,
  type Phase,
  type Scenario,
} from "./scenario.ts";

/**
 * A scenario in which much happens at the same time to few records: they are changed in bursts, while slow requests read
 * them, and the process ends in the middle of it. Pure.
 */
export function denseScenario(seed: number): Scenario {
  const choice = seededChoice(seededRandom(seed));
  // Mostly a run that reads everything, so that the rest has something to start from.
  const firstSync = { ...usualSync, allowMassDelete: false };
  const first = choice.probability(0.8) ? calmPhase(choice, firstSync) : densePhase(choice);
  const isRead = first.network === calmNetwork;
  const more = Array.from({ length: 2 + choice.below(3) }, () => {
    const phase = densePhase(choice);
    // A list that is empty says something only where there are records.
    const proxy = isRead && choice.probability(0.25) ? choice.one([0.1, 0.5]) : 0;
    return { ...phase, network: { ...phase.network, proxy } };
  });
  return {
    seed,
    service: serviceOptions(choice),
    fresh: choice.probability(0.02),
    phases: [first, ...more],
    restsBesideServe: choice.probability(0.3),
  };
}

function serviceOptions(choice: SeededChoice): Scenario["service"] {
  return {
    size: 2 + choice.below(4),
    limiter: choice.one(limiterKinds),
    limit: choice.one([40, 120, 120]),
    othersPerSecond: 0,
    lag: choice.one(["none", "none", "none", "commit", "replica"]),
    lagMs: choice.one([500, 5_000]),
    mostPerPage: choice.one([500, 500, 2, 3]),
    refusesSort: choice.probability(0.1),
    shufflesTies: choice.probability(0.1),
    deletion: choice.one(["hard", "soft"]),
    refusal: choice.one([404, 422]),
    amountsAsText: choice.probability(0.1),
    reordersKeys: choice.probability(0.3),
    stuckPages: choice.one([0, 0, 0, 0.1]),
    silentShare: choice.one([0, 0, 0.3]),
  };
}

function densePhase(choice: SeededChoice): Phase {
  const activity = busyActivity(choice);
  if (activity.kind === "serve" && choice.probability(0.1)) return breakingPhase(choice, activity);
  if (activity.kind === "serve" && choice.probability(0.2)) return overlapPhase(choice);
  const runAtMs = activity.kind === "serve" ? (activity.runAtMs ?? 0) : 0;
  const bursts = burstTimes(choice, runAtMs);
  const lastMs = Math.max(...bursts);
  return {
    seed: choice.below(2 ** 31),
    activity,
    ending: ending(choice, bursts),
    durationMs: choice.one([lastMs + 5_000, lastMs + 30_000, lastMs + recheckMs + 30_000]),
    changes: bursts.flatMap((atMs) => burst(choice, atMs)).toSorted(byTime),
    ...(choice.probability(0.2) && busyDatabase(choice, runAtMs)),
    wallJumps: [],
    network: networkFaults(choice),
    deliveries: deliveryFaults(choice),
    looksAtMs: bursts.flatMap((atMs) => [atMs + choice.below(12_000), atMs + choice.below(40_000)]),
  };
}

/** Transactions fail, also those that add a column. */
function busyDatabase(choice: SeededChoice, runAtMs: number): Pick<Phase, "busy" | "oddities"> {
  const busy = choice.one([0.05, 0.3]);
  return { busy, oddities: [{ atMs: runAtMs, seed: choice.below(2 ** 31), what: "unknown field" }] };
}

/** A record is changed again and again while its list and its own route are slow: reads of both overlap. */
function overlapPhase(choice: SeededChoice): Phase {
  const on = choice.one(["clients", "business_cases", "contact_activity_logs"] as const);
  const runAtMs = 2_000;
  const atMs = () => runAtMs + choice.below(14_000);
  const changes = someChanges(choice, 8, atMs, () => on);
  return {
    ...calmPhase(choice, usualSync),
    activity: { kind: "serve", runAtMs, full: choice.probability(0.5) },
    changes,
    network: { ...calmNetwork, evenMs: choice.one([5_000, 10_000]) },
    looksAtMs: [12_000, 20_000, 35_000],
  };
}

/** Everything is read, and nothing for a while; then a route stops to work, and its records are said to have changed. */
function breakingPhase(choice: SeededChoice, activity: Activity): Phase {
  const on = choice.one(["invoices", "clients", "business_cases", "price_list_items"] as const);
  const lateMs = 14 * minuteMs;
  return {
    ...calmPhase(choice, activity),
    durationMs: lateMs + 2 * minuteMs,
    changes: [...burst(choice, 5_000), ...burst(choice, lateMs, on)].toSorted(byTime),
    network: { ...calmNetwork, brokenRoute: on.replaceAll("_", "-"), breaksAfterMs: 11 * minuteMs },
    looksAtMs: [lateMs + minuteMs],
  };
}

function busyActivity(choice: SeededChoice): Activity {
  if (choice.probability(0.75))
    return {
      kind: "serve",
      runAtMs: choice.probability(0.75) ? choice.below(10_000) : null,
      full: choice.probability(0.5),
    };
  return {
    kind: "sync",
    mode: choice.one(["usual", "full", "full"]),
    scrub: choice.probability(0.3),
    mostRequests: null,
    allowMassDelete: choice.probability(0.5),
  };
}

/** At the start of a run and while it reads, and when the records of earlier bursts are read again. */
function burstTimes(choice: SeededChoice, runAtMs: number): number[] {
  const times = [runAtMs + choice.below(choice.one([1_000, 15_000]))];
  for (let left = choice.below(4); left > 0; left--) {
    const isRecheck = choice.probability(0.3);
    times.push(
      isRecheck ? choice.one(times) + recheckMs + choice.below(4_000) : runAtMs + choice.below(30_000),
    );
  }
  return times;
}

/** Some changes that follow each other closely, all about one table. */
function burst(choice: SeededChoice, atMs: number, on = choice.one(hotTables)): PlannedChange[] {
  const withinMs = choice.one([100, 2_000, 10_000]);
  const count = 2 + choice.below(5);
  const eachMs = () => atMs + choice.below(withinMs);
  return someChanges(choice, count, eachMs, () => on);
}

/** While there is work in flight. */
function ending(choice: SeededChoice, bursts: readonly number[]): Ending {
  return someEnding(choice, {
    kinds: ["by itself", "by itself", "crash", "crash", "killed", "stopped"],
    atMs: () => choice.one(bursts) + choice.below(10_000),
    power: 0.3,
    now: 0.7,
  });
}

function networkFaults(choice: SeededChoice): NetworkFaults {
  const spreadMs = choice.one([0, 4_000, 12_000, 25_000]);
  const evenMs = choice.probability(0.4) ? choice.one([3_000, 10_000]) : 0;
  const rarely = (share: number) => (choice.probability(0.3) ? share : 0);
  return {
    ...calmNetwork,
    lost: rarely(0.02),
    answerLost: rarely(0.02),
    reset: rarely(0.05),
    odd: rarely(choice.one([0.05, 0.2])),
    slow: rarely(0.05),
    spreadMs,
    evenMs,
    brokenRoute: choice.probability(0.15)
      ? choice.one(["invoices", "clients", "business-cases", "price-list-items"])
      : null,
  };
}

function deliveryFaults(choice: SeededChoice): DeliveryFaults {
  const rarely = (share: number) => (choice.probability(0.25) ? share : 0);
  return {
    ...calmDeliveries,
    lost: rarely(0.2),
    answerLost: rarely(0.3),
    doubled: rarely(0.3),
    late: rarely(0.5),
    forged: rarely(0.1),
  };
}
