import { seenNow } from "./foreign-use.ts";
import {
  limitOf,
  type Answer,
  type Flight,
  type RateLimitState,
  type Refusals,
  type Rules,
  type Window,
} from "./state.ts";

/** A longer `Retry-After` is cut to this many windows; then the service is asked again. */
const longestWaitWindows = 10;
/** Also after a 429 of a window that is over or about to end. */
const shortestWaitMs = 2_000;

/**
 * Applies an answer with status 429: the service did not count the request, the window is spent, and others
 * spent some of it.
 */
export function applyRefusal(
  state: RateLimitState,
  flight: Flight,
  { nowMs, retryAfterS }: Answer,
  rules: Rules,
): RateLimitState {
  const stale = state.window !== null && state.window.id !== flight.windowId;
  const waitMs = stale ? shortestWaitMs : waitAfter(state, nowMs, retryAfterS, rules);
  const pausedUntil = Math.max(state.refusals.pausedUntil ?? 0, nowMs + waitMs);
  const again = state.refusals.lastAt === null || flight.sentAt > state.refusals.lastAt;
  const refusals = again ? counted(state, pausedUntil, rules) : { ...state.refusals, pausedUntil };
  return {
    ...state,
    window: state.window && !stale ? spentWindow(state.window, nowMs, pausedUntil) : state.window,
    refusals: { ...refusals, lastAt: nowMs },
    others: seenNow(state.others, nowMs, rules),
  };
}

/** `Retry-After` can be 0 or up to a second short. Without it: until the window has surely ended. */
function waitAfter(state: RateLimitState, nowMs: number, retryAfterS: number | null, rules: Rules): number {
  const longestMs = longestWaitWindows * rules.windowMs;
  if (retryAfterS !== null) return Math.min(longestMs, (Math.max(1, retryAfterS) + 1) * 1000);
  const deadAt = state.window?.deadAt ?? 0;
  return deadAt > nowMs ? Math.max(shortestWaitMs, deadAt - nowMs) : rules.windowMs + rules.epsilonMs;
}

/** Others took what own requests did not take. */
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

/** After two in a row, one request at a time for a whole window. */
function counted(state: RateLimitState, pausedUntil: number, rules: Rules): Omit<Refusals, "lastAt"> {
  const inARow = state.refusals.inARow + 1;
  const caution = Math.min(Math.floor(limitOf(state, rules) / 4), Math.max(2, state.refusals.caution * 2));
  const serialUntil = inARow >= 2 ? pausedUntil + rules.windowMs : state.refusals.serialUntil;
  return { inARow, pausedUntil, serialUntil, caution };
}

/** An answer other than 429 ends the row. */
export function accepted(refusals: Refusals, flight: Flight): Refusals {
  if (refusals.inARow === 0 || refusals.lastAt === null || flight.sentAt <= refusals.lastAt) return refusals;
  return { ...refusals, inARow: 0 };
}

/** Halves the caution after a window without a refusal. */
export function easedCaution(refusals: Refusals, nowMs: number, rules: Rules): Refusals {
  if (refusals.caution === 0 || refusals.lastAt === null || nowMs - refusals.lastAt < 2 * rules.windowMs)
    return refusals;
  return { ...refusals, caution: Math.floor(refusals.caution / 2) };
}
