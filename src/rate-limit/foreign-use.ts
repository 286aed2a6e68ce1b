import type { Lane } from "../base/lane.ts";
import { limitOf, type Others, type RateLimitState, type Rules, type Window } from "./state.ts";

/** For how many windows other programs count as present after they were last seen. */
const rememberedWindows = 10;
/** How far ahead the use of others is estimated: an answer takes this long at most, usually. */
const lookaheadMs = 2_000;
/** With a smaller limit no permit is kept for the last look. */
const smallestLimitWithLook = 20;

export function seenLately({ others }: RateLimitState, nowMs: number): boolean {
  return others.until !== null && nowMs < others.until;
}

function othersSeen(state: RateLimitState, nowMs: number): boolean {
  return seenLately(state, nowMs) || state.window?.inherited === true;
}

/**
 * Permits that this lane leaves alone, at most half of the limit: the reserve for other programs (lane `webhook`
 * may use it) and a margin for what they take before we see it, both 0 while nobody else is seen; and the share
 * kept for events.
 */
export function heldBack(state: RateLimitState, lane: Lane, nowMs: number, rules: Rules): number {
  const limit = limitOf(state, rules);
  const seen = othersSeen(state, nowMs);
  // An event in the middle of a run must not wait for the next window; near its end the share is released.
  const isKept = state.window !== null && nowMs < eventsReleasedAt(state.window, rules);
  const share = Math.max(seen ? rules.reserveShare : 0, isKept ? rules.eventShare : 0);
  const reserve = lane === "webhook" ? 0 : Math.ceil(limit * share);
  const margin = seen ? Math.ceil((foreignPerWindow(state) * lookaheadMs) / rules.windowMs) : 0;
  return Math.min(reserve + margin + state.refusals.caution, Math.floor(limit / 2));
}

/** Requests of a whole window that are left to this program; the share for events is released near its end. */
export function grantedPerWindow(state: RateLimitState, nowMs: number, rules: Rules): number {
  const limit = limitOf(state, rules);
  return seenLately(state, nowMs) ? limit - Math.ceil(limit * rules.reserveShare) : limit;
}

export function eventsReleasedAt(window: Window, rules: Rules): number {
  return window.aliveUntil - rules.eventsUntilMs;
}

function foreignPerWindow(state: RateLimitState): number {
  return Math.max(state.others.perWindow, state.window?.foreign ?? 0);
}

/**
 * Is the window's last permit kept for a look shortly before its end? Its answer shows what others took meanwhile.
 * Not kept where others are known to take more than their reserve: the look would be refused.
 */
export function keptForLook(state: RateLimitState, window: Window, nowMs: number, rules: Rules): boolean {
  if (nowMs >= lookAt(window, rules) || limitOf(state, rules) < smallestLimitWithLook) return false;
  return !othersSeen(state, nowMs) || foreignPerWindow(state) < limitOf(state, rules) * rules.reserveShare;
}

export function lookAt(window: Window, rules: Rules): number {
  return window.aliveUntil - rules.lookBeforeMs;
}

/** Stores an updated window, with the drops of its budget that own requests do not explain. */
export function withForeign(state: RateLimitState, window: Window, nowMs: number, rules: Rules) {
  const foreign = window.first - window.lowest - window.issued;
  if (foreign <= window.foreign) return { ...state, window };
  return { ...state, window: { ...window, foreign }, others: seenNow(state.others, nowMs, rules) };
}

/** Others' average use when a window has ended. A rise counts at once, a fall if the window was seen late enough. */
export function othersAfter(state: RateLimitState, rules: Rules): Others {
  const { window, others } = state;
  if (!window) return others;
  const looked = window.lowestAt >= lookAt(window, rules);
  const before = looked ? Math.floor(others.perWindow / 2) : others.perWindow;
  // More than the limit only odd headers say: it would take long to fall again.
  return { ...others, perWindow: Math.min(limitOf(state, rules), Math.max(window.foreign, before)) };
}

export function seenNow(others: Others, nowMs: number, rules: Rules): Others {
  return { ...others, until: nowMs + rememberedWindows * rules.windowMs };
}
