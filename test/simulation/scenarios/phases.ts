import type { SeededChoice } from "../../support/seeded-random.ts";
import type { HotTable } from "../service/record-changes.ts";
import { calmDeliveries, calmNetwork, crashPoints } from "./scenario.ts";
import type { Activity, Ending, Phase, PlannedChange } from "./scenario.ts";

/** An event's record is read again about so long after it. */
export const recheckMs = 60_000;

/** A run that reads what is new. */
export const usualSync = {
  kind: "sync",
  mode: "usual",
  scrub: false,
  mostRequests: null,
  allowMassDelete: true,
} as const satisfies Activity;

/** A minute in which nobody changes anything and nothing goes wrong. */
export function calmPhase(choice: SeededChoice, activity: Activity): Phase {
  return {
    seed: choice.below(2 ** 31),
    activity,
    ending: { kind: "by itself" },
    durationMs: 60_000,
    changes: [],
    wallJumps: [],
    network: calmNetwork,
    deliveries: calmDeliveries,
  };
}

/** So many changes of any record, or of one of the table that `on` gives. */
export function someChanges(
  choice: SeededChoice,
  count: number,
  atMs: () => number,
  on?: () => HotTable,
): PlannedChange[] {
  return Array.from({ length: count }, () => ({
    atMs: atMs(),
    seed: choice.below(2 ** 31),
    ...(on && { on: on() }),
  })).toSorted(byTime);
}

export function byTime(a: { readonly atMs: number }, b: { readonly atMs: number }): number {
  return a.atMs - b.atMs;
}

/** How a process may end: which ways, when, and how likely with a loss of power or at once. */
export interface EndingOdds {
  readonly kinds: readonly Ending["kind"][];
  readonly atMs: () => number;
  readonly power: number;
  readonly now: number;
}

export function someEnding(choice: SeededChoice, odds: EndingOdds): Ending {
  const kind = choice.one(odds.kinds);
  const atMs = odds.atMs();
  const power = choice.probability(odds.power);
  if (kind === "by itself") return { kind };
  if (kind === "stopped") return { kind, atMs, now: choice.probability(odds.now) };
  if (kind === "killed") return { kind, atMs, power };
  return { kind, point: choice.one(crashPoints), nth: 1 + choice.below(choice.one([3, 12, 40])), power };
}
