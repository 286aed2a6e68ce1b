/**
 * Priority classes of work, first to last: the refetch of an event never waits behind a nightly sweep. `changed`:
 * deletions to confirm, and records known to have changed. `hydration`: details and parents' lists never read.
 * `scrub`: what was read longest ago. `quick`: a quick run's reads, which no other run makes.
 */
export const lanes = ["webhook", "list", "changed", "hydration", "scrub", "files", "quick"] as const;
export type Lane = (typeof lanes)[number];

/** How something is read. `confirm` is a detail read of a record that a list no longer shows. */
export type WorkKind = "list" | "detail" | "child" | "confirm";

/** 0 for the lane that is served first. */
export function laneRank(lane: Lane): number {
  return lanes.indexOf(lane);
}
