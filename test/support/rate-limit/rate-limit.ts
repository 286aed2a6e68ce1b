import type { Clock } from "../../../src/base/clock.ts";
import type { Lane } from "../../../src/base/lane.ts";
import { admit } from "../../../src/rate-limit/admission.ts";
import { applyAnswer } from "../../../src/rate-limit/budget-answers.ts";
import type { RateLimiter } from "../../../src/rate-limit/permit.ts";
import { createRateLimiter } from "../../../src/rate-limit/rate-limiter.ts";
import {
  applyLoss,
  coldState,
  createMemoryRateLimitStore,
  defaultRules,
} from "../../../src/rate-limit/state.ts";
import type { Flight, RateLimitState, Rules, Window } from "../../../src/rate-limit/state.ts";

/** A rate limiter that shares its budget with no other process. */
export function testRateLimiter(clock: Clock, rules: Partial<Rules>): RateLimiter {
  return createRateLimiter({ store: createMemoryRateLimitStore(), clock, ...rules });
}

/** Keeps no permit for the look at the end of a window; that has its own tests. */
const withoutLook: Partial<Rules> = { lookBeforeMs: defaultRules.windowMs };

/** One budget, step by step: requests and answers at given times. */
export type Ledger = ReturnType<typeof openLedger>;

export function openLedger(given: Partial<Rules> = {}, start: RateLimitState = coldState) {
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
    /** Sends a request at that time; fails the test when it may not go. */
    send(atMs: number, lane: Lane = "list"): Flight {
      const admission = ask(state, atMs, lane);
      if (!("flight" in admission.result)) throw new Error(`no request may go at ${atMs}`);
      state = admission.state;
      return admission.result.flight;
    },
    /** How many requests may go at that time; sends none. */
    room(atMs: number, lane: Lane = "list"): number {
      let from = state;
      for (let count = 0; count <= limit; count++) {
        const admission = ask(from, atMs, lane);
        if (!("flight" in admission.result)) return count;
        from = admission.state;
      }
      return Infinity;
    },
    /** When the next may go; the asked time itself when one may go now. */
    nextAt(atMs: number, lane: Lane = "list"): number {
      const { result } = ask(state, atMs, lane);
      return "flight" in result ? atMs : result.untilMs;
    },
    answer(flight: Flight, atMs: number, remaining: number | null, status = 200) {
      state = applyAnswer(state, flight, { ...headers(remaining), status, nowMs: atMs }, rules);
    },
    refuse(flight: Flight, atMs: number, retryAfterS: number | null) {
      state = applyAnswer(state, flight, { ...headers(0, retryAfterS), status: 429, nowMs: atMs }, rules);
    },
    lose(flight: Flight, atMs: number, mayArrive?: boolean) {
      state = applyLoss(state, flight, atMs, mayArrive);
    },
  };
}

/** A ledger with a window that its own request opened at 0 and its answer showed at 100. */
export function openedLedger(given: Partial<Rules> = {}): Ledger {
  const ledger = openLedger(given);
  const limit = given.defaultLimit ?? defaultRules.defaultLimit;
  ledger.answer(ledger.send(0), 100, limit - 1);
  return ledger;
}

/** A window of 120 that an own request opened at 0. */
export function aWindow(more: Partial<Window> = {}): Window {
  const counts = { first: 119, lowest: 119, lowestAt: 100, issued: 0, foreign: 0 };
  return { id: 1, aliveUntil: 59_000, deadAt: 60_100, ...counts, spent: [], inherited: false, ...more };
}

/** A request of that window. */
export function aFlight(more: Partial<Flight> = {}): Flight {
  return { id: 1, sentAt: 200, deadlineAt: 90_200, opener: false, windowId: 1, ceiling: 119, ...more };
}

export const calm: RateLimitState["refusals"] = coldState.refusals;

/** A state with that window and nothing in flight. */
export function aState(more: Partial<RateLimitState> = {}): RateLimitState {
  return { ...coldState, window: aWindow(), nextId: 10, ...more };
}
