/** The queue's lanes, first to last: an event's refetch never waits behind a nightly sweep. */
export const lanes = ["webhook", "list", "hydration", "scrub", "files"] as const;
export type Lane = (typeof lanes)[number];

export function laneRank(lane: Lane): number {
  return lanes.indexOf(lane);
}
