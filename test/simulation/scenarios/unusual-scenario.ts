import { seededChoice, seededRandom, type SeededChoice } from "../../support/seeded-random.ts";
import { hotTables } from "../service/record-changes.ts";
import { denseScenario } from "./dense-scenario.ts";
import { byTime, calmPhase, recheckMs, someChanges, usualSync } from "./phases.ts";
import { calmNetwork, oddities } from "./scenario.ts";
import type { Activity, Phase, PlannedOddity, Scenario, TokenKind } from "./scenario.ts";
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
  const mostUnfiled = choice.one([1, 3, 8]);
  const scenario = { ...base, fresh: false, mostUnfiled, phases: withTokens };
  return choice.probability(0.3) ? withQuietChanges(choice, scenario) : withBudget(choice, scenario);
}

/** Lists alone show what people change, while runs read them; a detail that is read then may be older than its list. */
function withQuietChanges(choice: SeededChoice, scenario: Scenario): Scenario {
  const lag = choice.one(["none", "replica"] as const);
  const quiet = [quietServe(choice), quietSync(choice), quietSync(choice)];
  return {
    ...scenario,
    service: { ...scenario.service, lag, lagMs: 20_000, silentShare: 0.85 },
    phases: [...scenario.phases, ...quiet, ...(lag === "replica" ? laggingDetails(choice) : [])],
  };
}

/** Documents change, then lists show it, and the details that are read because of it do not yet. */
function laggingDetails(choice: SeededChoice): Phase[] {
  const on = () => choice.one(["invoices", "invoices", "document_payments"] as const);
  const changes = someChanges(choice, 10, () => choice.below(6_000), on);
  const pause: Phase = { ...calmPhase(choice, { kind: "down" }), durationMs: 6_000, changes };
  return [pause, calmPhase(choice, usualSync)];
}

function quietSync(choice: SeededChoice): Phase {
  const withinMs = choice.one([300, 3_000]);
  const count = 4 + choice.below(8);
  const on = () => choice.one(["invoices", "invoices", "price_list_items", "clients"] as const);
  const changes = someChanges(choice, count, () => choice.below(withinMs), on);
  return { ...calmPhase(choice, usualSync), changes };
}

/** A run lists what is read again because of events of a minute ago. */
function quietServe(choice: SeededChoice): Phase {
  const table = choice.one(["clients", "business_cases"] as const);
  const on = () => table;
  const early = someChanges(choice, 6, () => choice.below(2_000), on);
  const late = someChanges(choice, 6, () => recheckMs + choice.below(8_000), on);
  return {
    ...calmPhase(choice, { kind: "serve", runAtMs: recheckMs - choice.below(3_000), full: false }),
    durationMs: recheckMs + 40_000,
    changes: [...early, ...late],
    network: { ...calmNetwork, spreadMs: 12_000 },
  };
}

/** The windows are used up: by the mirror alone, or slowly and together with others, so that it sees what these take. */
function withBudget(choice: SeededChoice, scenario: Scenario): Scenario {
  const kind = choice.one(["usual", "alone", "shared"] as const);
  const size = 8 + choice.below(6);
  if (kind === "usual") return scenario;
  if (kind === "alone")
    return {
      ...scenario,
      service: { ...scenario.service, size, limit: choice.one([12, 15]), othersPerSecond: 0, silentShare: 0 },
      phases: [...scenario.phases, strayServe(choice), ...straysAndSync(choice)],
    };
  const phases = [...scenario.phases, calmPhase(choice, fullSync), calmPhase(choice, fullSync)];
  return {
    ...scenario,
    service: { ...scenario.service, size, limit: 40, othersPerSecond: 0.3 },
    phases: phases.map((one) => ({ ...one, network: { ...one.network, spreadMs: 25_000 } })),
  };
}

/** Reads of events are given up in one window and counted in the next one, which a run uses up. */
function strayServe(choice: SeededChoice): Phase {
  const on = () => choice.one(hotTables);
  const changes = someChanges(choice, 10, () => choice.below(28_000), on);
  return {
    ...calmPhase(choice, { kind: "serve", runAtMs: 61_000 + choice.below(3_000), full: true }),
    durationMs: 200_000,
    changes,
    network: { ...calmNetwork, stray: choice.one([0.1, 0.25]) },
  };
}

/** The same, and the run that uses up the next window is slow, and may leave nothing of it to events or for a last look. */
function straysAndSync(choice: SeededChoice): Phase[] {
  const on = () => choice.one(hotTables);
  const serve: Phase = {
    ...calmPhase(choice, { kind: "serve", runAtMs: null, full: false }),
    durationMs: 35_000,
    changes: someChanges(choice, 12, () => choice.below(30_000), on),
    network: { ...calmNetwork, stray: choice.one([0.2, 0.4]) },
  };
  return [serve, { ...calmPhase(choice, fullSync), network: { ...calmNetwork, evenMs: 8_000 } }];
}

const fullSync: Activity = { ...usualSync, mode: "full" };

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
  })).toSorted(byTime);
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
    ...calmPhase(choice, usualSync),
    activity: choice.probability(0.5)
      ? { kind: "serve", runAtMs: choice.one([null, 5_000]), full: false }
      : { ...usualSync, mode: choice.one(["usual", "full", "quick"]) },
    changes: someChanges(choice, choice.below(4), () => choice.below(30_000)),
    token,
  }));
}
