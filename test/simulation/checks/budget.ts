import type { SimulatedMachine } from "../machine/simulated-machine.ts";

/**
 * I8: alone on the budget no request is refused, and no window counts more than the limit. A window in which the machine
 * was started anew and its wall clock set is not judged: nothing was left to know the window's end by.
 */
export function overspent({ service, clockLosses: { reboots, settings } }: SimulatedMachine): string[] {
  const { limiter, options, exchanges } = service;
  const { limit, othersPerSecond } = options;
  return limiter.windows.flatMap(({ openedAt, endsAt, own, refusedOwn }) => {
    const isWithin = (atMs: number) => atMs >= openedAt && atMs < endsAt;
    const isKnown = !(reboots.some(isWithin) && settings.some(isWithin));
    const isRefused = refusedOwn > 0 && othersPerSecond === 0 && isKnown;
    const answered = exchanges.filter(({ status }) => status !== 429);
    const seen = answered.filter(({ hitAtMs }) => isWithin(hitAtMs)).length;
    return [
      ...(isRefused ? [`I8 ${refusedOwn} refused in the window from ${openedAt}, alone`] : []),
      ...(seen > Math.min(own, limit)
        ? [`I8 ${seen} answered in the window from ${openedAt}, ${limit} allowed`]
        : []),
    ];
  });
}
