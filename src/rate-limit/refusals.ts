import { noticed } from "./shared-budget.ts";
import {
  limitOf,
  type Flight,
  type RateLimitState,
  type Refusals,
  type Rules,
  type Window,
} from "./state.ts";

/** `Retry-After` beyond this many windows is not believed at once: we ask again then. */
const longestWaitWindows = 10;
/** Also for a 429 that speaks of a window already left, or of one about to end. */
const shortestWaitMs = 2_000;

/** 429: not counted by the service, but the window is spent, and somebody else spent of it. */
export function refused(
  state: RateLimitState,
  flight: Flight,
  nowMs: number,
  retryAfterS: number | null,
  rules: Rules,
): RateLimitState {
  const stale = state.window !== null && state.window.id !== flight.windowId;
  const waitMs = stale ? shortestWaitMs : waitAfter(state, nowMs, retryAfterS, rules);
  const pausedUntil = Math.max(state.refusals.pausedUntil ?? 0, nowMs + waitMs);
  const again = state.refusals.lastAt === null || flight.sentAt > state.refusals.lastAt;
  const refusals = again ? counted(state, nowMs, pausedUntil, rules) : { ...state.refusals, pausedUntil };
  const window = state.window && !stale ? spentWindow(state.window, nowMs, pausedUntil) : state.window;
  return {
    ...state,
    window,
    refusals: { ...refusals, lastAt: nowMs },
    others: noticed(state.others, nowMs, rules),
  };
}

/** Can be 0 or up to a second short; without it, until the window has surely ended. */
function waitAfter(state: RateLimitState, nowMs: number, retryAfterS: number | null, rules: Rules): number {
  const longestMs = longestWaitWindows * rules.windowMs;
  if (retryAfterS !== null) return Math.min(longestMs, (Math.max(1, retryAfterS) + 1) * 1000);
  const deadAt = state.window?.deadAt ?? 0;
  return deadAt > nowMs ? Math.max(shortestWaitMs, deadAt - nowMs) : rules.windowMs + rules.epsilonMs;
}

/** What own requests did not take of it, others did. */
function spentWindow(window: Window, nowMs: number, endsMs: number): Window {
  return {
    ...window,
    lowest: 0,
    lowestAt: nowMs,
    foreign: Math.max(window.foreign, window.first - window.issued),
    deadAt: endsMs,
    aliveUntil: Math.min(window.aliveUntil, endsMs),
  };
}

/** Twice in a row: one request at a time for a whole window. */
function counted(state: RateLimitState, nowMs: number, pausedUntil: number, rules: Rules): Refusals {
  const inARow = state.refusals.inARow + 1;
  const caution = Math.min(Math.floor(limitOf(state, rules) / 4), Math.max(2, state.refusals.caution * 2));
  const serialUntil = inARow >= 2 ? pausedUntil + rules.windowMs : state.refusals.serialUntil;
  return { inARow, lastAt: nowMs, pausedUntil, serialUntil, caution };
}

/** An answer that is not a refusal ends the row; a window without one halves the caution. */
export function accepted(refusals: Refusals, flight: Flight): Refusals {
  if (refusals.inARow === 0 || refusals.lastAt === null || flight.sentAt <= refusals.lastAt) return refusals;
  return { ...refusals, inARow: 0 };
}

export function easedCaution(refusals: Refusals, nowMs: number, rules: Rules): Refusals {
  if (refusals.caution === 0 || refusals.lastAt === null || nowMs - refusals.lastAt < 2 * rules.windowMs)
    return refusals;
  return { ...refusals, caution: Math.floor(refusals.caution / 2) };
}
