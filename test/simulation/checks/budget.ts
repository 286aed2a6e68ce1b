import type { SimulatedService } from "../service/simulated-service.ts";

/** A 429 as the service sent it. */
export interface RefusedAnswer {
  /** When the service refused the request: `retryAfterS` counts from then. */
  readonly refusedAtMs: number;
  readonly windowEndsAtMs: number;
  readonly retryAfterS: number | null;
}

/** A 429 as one process received it, and when that process sent requests afterwards; times of one clock. */
export interface Refused extends RefusedAnswer {
  readonly receivedAtMs: number;
  /** When the same process sent its next request. */
  readonly nextSentAtMs: number | null;
}

/** When the machine lost its monotonic clock, and when its wall clock was set. */
export interface ClockLosses {
  readonly reboots: readonly number[];
  readonly settings: readonly number[];
}

/**
 * I8: alone on the budget no request is refused, and no window counts more than the limit. A window in which the machine
 * was started anew and its wall clock set is not judged: nothing was left to know the window's end by.
 */
export function overspent(
  { limiter, options, exchanges }: Pick<SimulatedService, "limiter" | "options" | "exchanges">,
  { reboots, settings }: ClockLosses,
): string[] {
  const { limit, othersPerSecond } = options;
  return limiter.windows.flatMap(({ openedAt, endsAt, own, refusedOwn }) => {
    const isWithin = (atMs: number) => atMs >= openedAt && atMs < endsAt;
    const isKnown = !(reboots.some(isWithin) && settings.some(isWithin));
    const isRefused = refusedOwn > 0 && othersPerSecond === 0 && isKnown;
    const answered = exchanges.filter(({ status }) => status !== 429 && status !== 401);
    const seen = answered.filter(({ hitAtMs }) => isWithin(hitAtMs)).length;
    return [
      ...(isRefused ? [`I8 ${refusedOwn} refused in the window from ${openedAt}, alone`] : []),
      ...(seen > Math.min(own, limit)
        ? [`I8 ${seen} answered in the window from ${openedAt}, ${limit} allowed`]
        : []),
    ];
  });
}

/**
 * I8: after a 429 nothing is sent before the time that it asked for, nor before its window ends: the service may ask for up
 * to a second too little. One that was under way until this time was over asks
 * for nothing any more: the window that refused has ended.
 */
export function impatient(refused: readonly Refused[]): string[] {
  return refused.flatMap(({ refusedAtMs, windowEndsAtMs, receivedAtMs, retryAfterS, nextSentAtMs }) => {
    if (nextSentAtMs === null) return [];
    const waitedMs = nextSentAtMs - receivedAtMs;
    const least = Math.max(1, retryAfterS ?? 1) * 1000;
    const isOver = waitedMs >= least && nextSentAtMs >= windowEndsAtMs;
    return isOver || receivedAtMs >= refusedAtMs + least
      ? []
      : [`I8 sent again ${waitedMs} ms after a 429 that asked for ${retryAfterS} s`];
  });
}
