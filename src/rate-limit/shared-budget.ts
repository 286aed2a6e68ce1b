import type { Lane } from "../base/lane.ts";
import { limitOf, type RateLimitState, type Others, type Rules, type Window } from "./state.ts";

/** How long other clients are taken as present after they were last seen. */
const rememberedWindows = 10;
/** What others may take while an answer is on its way. */
const lookaheadMs = 2_000;
const smallestLimitWithLook = 20;

function othersSeen(state: RateLimitState, nowMs: number): boolean {
  const lately = state.others.until !== null && nowMs < state.others.until;
  return lately || state.window?.inherited === true;
}

/**
 * Permits left alone: the reserve for other clients (events may use it), and a margin for what they
 * take before we hear of it. Both are 0 when nobody else is there. Where events are awaited, their share
 * is kept from the other lanes as well. Never more than half of the limit.
 */
export function heldBack(state: RateLimitState, lane: Lane, nowMs: number, rules: Rules): number {
  const limit = limitOf(state, rules);
  const seen = othersSeen(state, nowMs);
  const share = Math.max(seen ? rules.reserveShare : 0, eventsAwaited(state, nowMs, rules));
  const reserve = lane === "webhook" ? 0 : Math.ceil(limit * share);
  const margin = seen ? Math.ceil((theirRate(state) * lookaheadMs) / rules.windowMs) : 0;
  return Math.min(reserve + margin + state.refusals.caution, Math.floor(limit / 2));
}

/** An event that comes in the middle of a run must not wait for the next window; near its end what is left goes to whoever asks. */
function eventsAwaited({ window }: RateLimitState, nowMs: number, rules: Rules): number {
  return window && nowMs < eventsReleasedAt(window, rules) ? rules.eventShare : 0;
}

export function eventsReleasedAt(window: Window, rules: Rules): number {
  return window.aliveUntil - rules.eventsUntilMs;
}

function theirRate(state: RateLimitState): number {
  return Math.max(state.others.perWindow, state.window?.foreign ?? 0);
}

/**
 * Spending early makes us blind for the rest of a window. So the last permit is kept for a look shortly
 * before its end: others that came meanwhile show in its answer. Where they are known to take more than
 * their reserve, the look would only be refused.
 */
export function keptForLook(state: RateLimitState, window: Window, nowMs: number, rules: Rules): boolean {
  if (nowMs >= lookAt(window, rules) || limitOf(state, rules) < smallestLimitWithLook) return false;
  return !othersSeen(state, nowMs) || theirRate(state) < limitOf(state, rules) * rules.reserveShare;
}

export function lookAt(window: Window, rules: Rules): number {
  return window.aliveUntil - rules.lookBeforeMs;
}

/** Drops of one window that own requests do not explain. */
export function withForeign(
  state: RateLimitState,
  window: Window,
  nowMs: number,
  rules: Rules,
): RateLimitState {
  const foreign = window.first - window.lowest - window.issued;
  if (foreign <= window.foreign) return { ...state, window };
  return { ...state, window: { ...window, foreign }, others: noticed(state.others, nowMs, rules) };
}

/**
 * When a window has ended: what the others took of it moves the average; rises count at once, a fall only
 * if somebody looked late enough to know.
 */
export function othersAfter(state: RateLimitState, rules: Rules): Others {
  const { window, others } = state;
  if (!window) return others;
  const looked = window.lowestAt >= lookAt(window, rules);
  const before = looked ? Math.floor(others.perWindow / 2) : others.perWindow;
  return { ...others, perWindow: Math.max(window.foreign, before) };
}

export function noticed(others: Others, nowMs: number, rules: Rules): Others {
  return { ...others, until: nowMs + rememberedWindows * rules.windowMs };
}
