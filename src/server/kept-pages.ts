import type { Clock } from "../base/clock.ts";

/** For how long a page is kept: so many times as long as making it took, within bounds. */
export interface KeptFor {
  readonly factor: number;
  readonly shortestMs: number;
  readonly longestMs: number;
  /** What was spent so far on making pages and all else, ms. */
  readonly costMs: () => number;
}

/** More are not kept: those that were made first are left out. */
const mostPages = 100;

/** Whoever asks while a page is being made gets that one, and for some time after, however many ask. */
export class KeptPages<Key, Made> {
  private readonly clock: Pick<Clock, "monotonicMs">;
  private readonly keptFor: KeptFor;
  private readonly pages = new Map<Key, { readonly page: Promise<Made>; untilMs: number }>();

  constructor(clock: Pick<Clock, "monotonicMs">, keptFor: KeptFor) {
    this.clock = clock;
    this.keptFor = keptFor;
  }

  /** The page, made now or lately. Rejects with what `make` rejects with, for as long as a page would be kept. */
  get(key: Key, make: () => Promise<Made> | Made): Promise<Made> {
    const known = this.pages.get(key);
    if (known && this.clock.monotonicMs() < known.untilMs) return known.page;
    const { factor, shortestMs, longestMs, costMs } = this.keptFor;
    const beforeMs = costMs();
    const made = { page: new Promise<Made>((resolve) => resolve(make())), untilMs: Infinity };
    const rest = () => {
      const restMs = Math.max(shortestMs, (costMs() - beforeMs) * factor);
      made.untilMs = this.clock.monotonicMs() + Math.min(longestMs, restMs);
    };
    made.page.then(rest, rest);
    this.pages.delete(key);
    this.pages.set(key, made);
    const [first] = this.pages.keys();
    if (this.pages.size > mostPages && first !== undefined) this.pages.delete(first);
    return made.page;
  }
}
