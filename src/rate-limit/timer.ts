import type { Clock } from "../base/clock.ts";

/** A sleep that ends at its time or when something happened, whichever is first. */
export interface Alarm {
  sleepUntil(monotonicMs: number): Promise<void>;
  ring(): void;
}

const longestSleepMs = 60_000;

export function createAlarm(clock: Clock): Alarm {
  let bell = new AbortController();
  return {
    async sleepUntil(monotonicMs) {
      bell = new AbortController();
      const ms = Math.min(longestSleepMs, Math.max(1, monotonicMs - clock.monotonicMs()));
      await clock.sleep(ms, bell.signal);
    },
    ring: () => bell.abort(),
  };
}
