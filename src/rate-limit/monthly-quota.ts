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

/** Counts the requests of all processes that share a budget, by month. */
export interface MonthStore {
  readMonth(month: string): MonthCount;
  /** What the service states; its count includes other programs, so the larger one counts. */
  noteMonth(month: string, stated: MonthCount): void;
}

/** The calls that a plan allows in a calendar month. */
export interface CountedQuota {
  readonly store: MonthStore;
  readonly clock: Clock;
  /** By the config; null: as the service states it. */
  readonly limit: number | null;
  readonly usual: number;
  /** Only events may use this share of the month. */
  readonly eventShare: number;
  /** Says once why nothing is sent any more. */
  readonly log?: Log;
}

/** The quota that a connector declares and a config may set; null: the service has none. */
export function quotaOf(
  declared: MonthlyQuota | undefined,
  { monthly, reserveShare }: { readonly monthly: number | null; readonly reserveShare: number },
  parts: Pick<CountedQuota, "store" | "clock" | "log">,
): CountedQuota | null {
  return declared ? { ...parts, limit: monthly, usual: declared.requests, eventShare: reserveShare } : null;
}

export function monthAt(nowMs: number): string {
  return new Date(nowMs).toISOString().slice(0, 7);
}

export function viewMonth({ store, clock, limit, usual, eventShare }: CountedQuota): MonthView {
  const month = monthAt(clock.nowMs());
  const counted = store.readMonth(month);
  const whole = limit ?? counted.limit ?? usual;
  const kept = Math.ceil(whole * eventShare);
  return { month, used: counted.used, limit: whole, kept, left: Math.max(0, whole - kept - counted.used) };
}

/** An event that finds the month used up waits for the next one, and looks this often. */
const lookEveryMs = 60_000;

/**
 * A rate limiter that also obeys a monthly quota. Past it a run is refused with a MirrorError of kind `stopped`, which the
 * next run can go on from; events wait. A permit that another process took the last call from is given back.
 */
export function limitMonth(rateLimiter: RateLimiter, quota: CountedQuota): RateLimiter {
  const isFree = (lane: Lane, more: number) => {
    const { used, limit, kept } = viewMonth(quota);
    return used + more <= (lane === "webhook" ? limit : limit - kept);
  };
  let isLogged = false;
  const refuse = () => {
    const { month, used, limit, kept } = viewMonth(quota);
    const of = `${used} of ${limit} calls of ${month} are used, and ${kept} are kept for events`;
    const message = `the month's calls are used up: ${of}`;
    if (!isLogged) quota.log?.warn(message);
    isLogged = true;
    return new MirrorError("stopped", message, {
      hint: "Everything committed is kept; the next month's first run goes on. rate_limit.monthly sets another limit.",
    });
  };
  return {
    view: () => ({ ...rateLimiter.view(), month: viewMonth(quota) }),
    admit: async (lane, signal) => {
      for (;;) {
        while (!isFree(lane, 1)) {
          if (lane !== "webhook") throw refuse();
          await quota.clock.sleep(lookEveryMs, signal);
          throwIfAborted(signal, "stopped while waiting for the next month's calls");
        }
        const permit = await rateLimiter.admit(lane, signal);
        if (isFree(lane, 0)) return permit;
        permit.lost();
      }
    },
  };
}
