import type { Clock } from "../base/clock.ts";
import type { CompanyStatusView } from "../status/company-view.ts";

type Views = readonly CompanyStatusView[];

/** Time of reading between two turns of the event loop. */
const sliceMs = 20;

/** Views are shown again for so many times as long as reading them took, if that was more than a slice. */
const slowFactor = 20;
const oldestMs = 5_000;

/**
 * The status of all companies for pages and alerts. Reading it blocks the only thread there is: it is read in slices,
 * once for all who ask meanwhile, and where it takes long it is shown again for a while. No view is older than 5 s when
 * it is given, but for the time of reading.
 */
export function createRecentViews(clock: Clock, sources: () => Iterable<{ view(): CompanyStatusView }>) {
  let reading: Promise<Views> | null = null;
  let last: { readonly views: Views; readonly untilMs: number } | null = null;
  const readAll = async (): Promise<Views> => {
    const startedMs = clock.monotonicMs();
    const views: CompanyStatusView[] = [];
    let sliceEndMs = startedMs + sliceMs;
    for (const source of Array.from(sources())) {
      views.push(source.view());
      if (clock.monotonicMs() < sliceEndMs) continue;
      await new Promise((resolve) => setImmediate(resolve));
      sliceEndMs = clock.monotonicMs() + sliceMs;
    }
    const tookMs = clock.monotonicMs() - startedMs;
    const untilMs = startedMs + Math.min(oldestMs, tookMs * slowFactor);
    last = tookMs > sliceMs ? { views, untilMs } : null;
    return views;
  };
  return {
    read: (): Promise<Views> => {
      if (last && clock.monotonicMs() < last.untilMs) return Promise.resolve(last.views);
      return (reading ??= readAll().finally(() => (reading = null)));
    },
    /** What was read before shows no company that came or left since. */
    forget: () => void (last = null),
  };
}
