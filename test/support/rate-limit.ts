import type { Clock } from "../../src/base/clock.ts";
import type { Lane } from "../../src/base/lane.ts";
import { admit } from "../../src/rate-limit/admission.ts";
import { lost } from "../../src/rate-limit/in-flight.ts";
import { answered } from "../../src/rate-limit/learning.ts";
import {
  coldState,
  defaultRules,
  type Flight,
  type RateLimitState,
  type Rules,
} from "../../src/rate-limit/state.ts";

/** A clock that stands still until a test moves it. */
export interface DrivenClock extends Clock {
  /** Moves time and lets everything that waited for it run. */
  advance(ms: number): Promise<void>;
  /** Sleeps that are under way. */
  sleeping(): number;
}

/** Lets everything run that is ready to. */
async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

export function createDrivenClock(startMs = 1_000_000): DrivenClock {
  let nowMs = startMs;
  const sleepers = new Set<{ readonly atMs: number; readonly wake: () => void }>();
  return {
    nowMs: () => 1_700_000_000_000 + nowMs,
    monotonicMs: () => nowMs,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        const wake = () => {
          sleepers.delete(sleeper);
          signal?.removeEventListener("abort", wake);
          resolve();
        };
        const sleeper = { atMs: nowMs + ms, wake };
        if (signal?.aborted) return resolve();
        signal?.addEventListener("abort", wake, { once: true });
        sleepers.add(sleeper);
      }),
    async advance(ms) {
      const untilMs = nowMs + ms;
      await settle();
      for (let steps = 0; steps < 10_000; steps++) {
        const next = [...sleepers].toSorted((a, b) => a.atMs - b.atMs)[0];
        if (!next || next.atMs > untilMs) break;
        nowMs = Math.max(nowMs, next.atMs);
        next.wake();
        await settle();
      }
      nowMs = untilMs;
      await settle();
    },
    sleeping: () => sleepers.size,
  };
}

/** No permit is kept for the look at the end of a window; that has its own tests. */
const withoutLook: Partial<Rules> = { lookBeforeMs: defaultRules.windowMs };

/** One budget, told as a story: who asks when, and what comes back when. */
export interface Ledger {
  readonly state: () => RateLimitState;
  /** Sends one at that time; fails the test when it may not go. */
  send(atMs: number, lane?: Lane): Flight;
  /** How many of so many askers may go at that time, without sending. */
  room(atMs: number, lane?: Lane): number;
  /** When the next may go; the asked time itself when one may go now. */
  nextAt(atMs: number, lane?: Lane): number;
  answer(flight: Flight, atMs: number, remaining: number | null, status?: number): void;
  refuse(flight: Flight, atMs: number, retryAfterS: number | null): void;
  lose(flight: Flight, atMs: number): void;
}

export function openLedger(given: Partial<Rules> = {}, start: RateLimitState = coldState): Ledger {
  const rules: Rules = { ...defaultRules, ...withoutLook, ...given };
  const limit = rules.defaultLimit;
  let state = start;
  const ask = (from: RateLimitState, atMs: number, lane: Lane) => admit(from, lane, atMs, rules);
  const headers = (remaining: number | null, retryAfterS: number | null = null) => ({
    limit: remaining === null ? null : limit,
    remaining,
    retryAfterS,
  });
  return {
    state: () => state,
    send(atMs, lane = "list") {
      const admission = ask(state, atMs, lane);
      if (!("flight" in admission.decision)) throw new Error(`nobody may go at ${atMs}`);
      state = admission.state;
      return admission.decision.flight;
    },
    room(atMs, lane = "list") {
      let from = state;
      for (let count = 0; count <= limit; count++) {
        const admission = ask(from, atMs, lane);
        if (!("flight" in admission.decision)) return count;
        from = admission.state;
      }
      return Infinity;
    },
    nextAt(atMs, lane = "list") {
      const { decision } = ask(state, atMs, lane);
      return "flight" in decision ? atMs : decision.untilMs;
    },
    answer(flight, atMs, remaining, status = 200) {
      state = answered(state, flight, atMs, status, headers(remaining), rules);
    },
    refuse(flight, atMs, retryAfterS) {
      state = answered(state, flight, atMs, 429, headers(0, retryAfterS), rules);
    },
    lose(flight, atMs) {
      state = lost(state, flight, atMs);
    },
  };
}

/** A ledger whose window was opened by us at 0 and seen at 100. */
export function openedLedger(given: Partial<Rules> = {}): Ledger {
  const ledger = openLedger(given);
  const limit = given.defaultLimit ?? defaultRules.defaultLimit;
  ledger.answer(ledger.send(0), 100, limit - 1);
  return ledger;
}
