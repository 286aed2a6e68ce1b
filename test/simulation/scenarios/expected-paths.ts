import { indiscretions } from "../machine/indiscreet-answers.ts";
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
  "odd answer: 500",
  "odd answer: 503",
  "odd answer: 503 with Retry-After",
  "odd answer: 403",
  "odd answer: 422",
  "odd answer: html",
  "odd answer: half",
  "odd answer: empty",
  "odd answer: 204",
  "odd answer: another object",
  "route answers 404",
  "route stops to work",
  "judged beside a process",
  "clock set forward",
  "clock set back",
  "delivery lost",
  "delivery forged",
  "delivery doubled",
  "delivery late",
  "answer to a delivery lost",
  "delivery answered: stored",
  "delivery answered: known",
  "delivery answered: 401",
  "service: 404",
  "service: 422",
  "service: 429",
  "service: lagging read",
  "service: stuck page",
  "service: request of others",
  ...indiscretions.map(([name]) => `indiscreet answer: ${name}`),
  "indiscreet answer: error of the network",
  ...tokenKinds.map((kind) => `token: ${kind}`),
  "token refused until a run overrides the check",
  ...oddities.map((what) => `service: ${what}`),
  "delivery gathered",
  "deliveries in one transaction",
  "delivery replayed",
  "events replayed",
  "transaction fails: SQLITE_FULL",
  "transaction fails: SQLITE_TOOBIG",
  "run resumed",
  "share of parents' lists continued",
  "tombstone",
  "provisional row left",
  "deletion unproven",
  "left for the next process: absent",
  "left for the next process: new",
  "left for the next process: recheck",
  "left for the next process: route probe",
  "left for the next process: sweep",
];

/** What should have been met and was not, where there were seeds enough. Pure. */
export function neverMet(met: ReadonlyMap<string, number>, seeds: number): string[] {
  return seeds < enoughSeeds ? [] : expectedPaths.filter((what) => !met.has(what));
}
