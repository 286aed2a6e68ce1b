import { indiscretions } from "../machine/indiscreet-answers.ts";
import { oddAnswers } from "../machine/network.ts";
import { crashPoints, oddities, tokenKinds } from "./scenario.ts";

/** With fewer seeds, what is rare need not be met. */
const enoughSeeds = 1_000;

/** Each fault and each path that many seeds must meet: otherwise the simulation does not show what it promises. */
const expectedPaths: readonly string[] = [
  ...crashPoints.map((point) => `crash ${point}`),
  "crash at a moment",
  "power loss",
  "stopped",
  "interrupted",
  "request lost",
  "answer lost",
  "connection reset",
  "slow request",
  "request counted after it was given up",
  ...oddAnswers.map(([name]) => `odd answer: ${name}`),
  "route answers 404",
  "route stops to work",
  "judged beside a process",
  "clock set forward",
  "clock set back",
  ...["lost", "forged", "doubled", "late", "gathered", "replayed"].map((how) => `delivery ${how}`),
  "answer to a delivery lost",
  ...["stored", "known", "401"].map((answer) => `delivery answered: ${answer}`),
  ...["404", "422", "429", "lagging read", "stuck page", "request of others"].map(
    (what) => `service: ${what}`,
  ),
  ...indiscretions.map(([name]) => `indiscreet answer: ${name}`),
  "indiscreet answer: error of the network",
  ...tokenKinds.map((kind) => `token: ${kind}`),
  "token refused until a run overrides the check",
  ...oddities.map((what) => `service: ${what}`),
  "deliveries in one transaction",
  "events replayed",
  "transaction fails: SQLITE_FULL",
  "transaction fails: SQLITE_TOOBIG",
  "run resumed",
  "share of parents' lists continued",
  "tombstone",
  "provisional row left",
  "deletion unproven",
  ...["absent", "new", "recheck", "route probe", "sweep"].map((why) => `left for the next process: ${why}`),
];

/** What should have been met and was not, where there were seeds enough. Pure. */
export function neverMet(met: ReadonlyMap<string, number>, seeds: number): string[] {
  return seeds < enoughSeeds ? [] : expectedPaths.filter((what) => !met.has(what));
}
