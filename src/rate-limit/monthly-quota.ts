import type { Clock } from "../base/clock.ts";
import { MirrorError, throwIfAborted } from "../base/errors.ts";
import type { Log } from "../base/logger.ts";
import type { Lane } from "../base/lane.ts";
import type { MonthlyQuota } from "../connector/service-protocol.ts";
import type { MonthView, RateLimiter } from "./permit.ts";

export interface MonthCount {
  readonly used: number;
  /** As the service stated it; null: it did not. */
  readonly limit: number | null;
}

export interface MonthStore {
  readMonth(month: string): MonthCount;
  /** What the service states; its count includes other programs, so the larger one counts. */
  noteMonth(month: string, stated: MonthCount): void;
}

/** The calls that a plan allows in a calendar month. */
export type CountedQuota = NonNullable<ReturnType<typeof quotaOf>>;

/** The quota that a connector declares and a config may set; null: none. What is kept of it is for events alone. */
export function quotaOf(
  declared: MonthlyQuota | undefined,
  { monthly, reserveShare }: { readonly monthly: number | null; readonly reserveShare: number },
  store: MonthStore,
  clock: Clock,
) {
  if (!declared) return null;
  const view = (): MonthView => {
    const month = monthAt(clock.nowMs());
    const { used, limit: stated } = store.readMonth(month);
    const limit = monthly ?? stated ?? declared.requests;
    const kept = Math.ceil(limit * reserveShare);
    return { month, used, limit, kept, left: Math.max(0, limit - kept - used) };
  };
  return { store, clock, view };
}

export function monthAt(nowMs: number): string {
  return new Date(nowMs).toISOString().slice(0, 7);
}

/** An event that finds the month used up waits for the next one, and looks this often. */
const lookEveryMs = 60_000;

/**
 * Makes rate limiters that also obey a monthly quota. Past it events wait, with `waits` all that asks; a run is refused with a
 * MirrorError of kind `stopped`, which the next run can go on from. A permit whose call another process took is given back.
 */
export function limitMonth(rateLimiter: RateLimiter, { clock, view }: CountedQuota, log: Log) {
  const isFree = (lane: Lane, more: number) => {
    const { used, limit, kept } = view();
    return used + more <= (lane === "webhook" ? limit : limit - kept);
  };
  let loggedMonth: string | null = null;
  const refuse = () => {
    const { month, used, limit, kept } = view();
    const message = `the month's calls are used up: ${used} of ${limit} calls of ${month} are used, and ${kept} are kept for events`;
    if (month !== loggedMonth) log.warn(message);
    loggedMonth = month;
    return new MirrorError("stopped", message, {
      hint: "Everything committed is kept; the next month's first run goes on. rate_limit.monthly sets another limit.",
    });
  };
  return (waits: boolean): RateLimiter => ({
    view: () => ({ ...rateLimiter.view(), month: view() }),
    admit: async (lane, signal) => {
      for (;;) {
        while (!isFree(lane, 1)) {
          const refusal = refuse();
          if (!waits && lane !== "webhook") throw refusal;
          await clock.sleep(lookEveryMs, signal);
          throwIfAborted(signal, "stopped while waiting for the next month's calls");
        }
        const permit = await rateLimiter.admit(lane, signal);
        if (isFree(lane, 0)) return permit;
        permit.lost();
      }
    },
  });
}
