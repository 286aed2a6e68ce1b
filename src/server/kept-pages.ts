import type { Clock } from "../base/clock.ts";

/** For how long a page is kept: so many times as long as making it took, within bounds. */
interface KeptFor {
  readonly factor: number;
  readonly shortestMs: number;
  readonly longestMs: number;
  /** What was spent so far on making pages and all else, ms. @default the time that passed */
  readonly costMs?: () => number;
}

/** More are not kept: those that were made first are left out. */
const mostPages = 100;

/** Whoever asks while a page is being made gets that one, and for some time after, however many ask. */
export function createKeptPages<Made>(clock: Pick<Clock, "monotonicMs">, keptFor: KeptFor) {
  const { factor, shortestMs, longestMs, costMs = () => clock.monotonicMs() } = keptFor;
  const pages = new Map<unknown, { readonly page: Promise<Made>; untilMs: number }>();
  /** The page, made now or lately. Rejects with what `make` rejects with, for as long as a page would be kept. */
  return (key: unknown, make: () => Promise<Made> | Made): Promise<Made> => {
    const known = pages.get(key);
    if (known && clock.monotonicMs() < known.untilMs) return known.page;
    const beforeMs = costMs();
    const made = { page: new Promise<Made>((resolve) => resolve(make())), untilMs: Infinity };
    const rest = () => {
      const restMs = Math.max(shortestMs, (costMs() - beforeMs) * factor);
      made.untilMs = clock.monotonicMs() + Math.min(longestMs, restMs);
    };
    made.page.then(rest, rest);
    pages.delete(key);
    pages.set(key, made);
    const [first] = pages.keys();
    if (pages.size > mostPages && first !== undefined) pages.delete(first);
    return made.page;
  };
}
