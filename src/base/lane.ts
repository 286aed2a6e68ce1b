/** Priority classes of work, first to last: the refetch of an event never waits behind a nightly sweep. */
export const lanes = ["webhook", "list", "hydration", "scrub", "files"] as const;
/** One of them. */
export type Lane = (typeof lanes)[number];

/** 0 for the lane that is served first. */
export function laneRank(lane: Lane): number {
  return lanes.indexOf(lane);
}
