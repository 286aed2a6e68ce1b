import type { SimulatedService } from "../service/simulated-service.ts";

/** A 429 as one process received it, and when that process sent requests afterwards; times of one clock. */
export interface Refused {
  readonly receivedAtMs: number;
  readonly retryAfterS: number | null;
  /** When the same process sent its next request. */
  readonly nextSentAtMs: number | null;
}

/** I8: alone on the budget no request is refused, and no window counts more than the limit. */
export function overspent({
  limiter,
  options,
  exchanges,
}: Pick<SimulatedService, "limiter" | "options" | "exchanges">): string[] {
  const { limit, othersPerSecond } = options;
  const refused = limiter.windows.filter(({ refusedOwn }) => refusedOwn > 0 && othersPerSecond === 0);
  const counted = limiter.windows.flatMap(({ openedAt, endsAt, own }) => {
    const seen = exchanges.filter(
      ({ hitAtMs, status }) => hitAtMs >= openedAt && hitAtMs < endsAt && status !== 429 && status !== 401,
    ).length;
    return seen > own || seen > limit
      ? [`I8 ${seen} requests in the window from ${openedAt}, ${limit} allowed`]
      : [];
  });
  return [
    ...refused.map(
      ({ openedAt, refusedOwn }) => `I8 ${refusedOwn} refused in the window from ${openedAt}, alone`,
    ),
    ...counted,
  ];
}

/** I8: after a 429 nothing is sent before the time that it asked for. */
export function impatient(refused: readonly Refused[]): string[] {
  return refused.flatMap(({ receivedAtMs, retryAfterS, nextSentAtMs }) => {
    if (nextSentAtMs === null) return [];
    const waitedMs = nextSentAtMs - receivedAtMs;
    const least = Math.max(1, retryAfterS ?? 1) * 1000;
    return waitedMs >= least
      ? []
      : [`I8 sent again ${waitedMs} ms after a 429 that asked for ${retryAfterS} s`];
  });
}
