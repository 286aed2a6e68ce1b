import type { Lane } from "../base/lane.ts";
import { expireFlights, lateWindowEndsAt, stillLate, leftIn, limitOf, liveWindow } from "./state.ts";
import type { BudgetStep, Flight, RateLimitState, Rules, Window, Others } from "./state.ts";
import type { BudgetView } from "./permit.ts";

/** The request that may go now, or when to ask again at the latest (sooner after an answer). */
type Admitted = { readonly flight: Flight } | { readonly untilMs: number };

/** Decides about one request of this lane, and counts it when it may go. */
export function admit(before: RateLimitState, lane: Lane, nowMs: number, rules: Rules): BudgetStep<Admitted> {
  const state = expireFlights(before, nowMs);
  const untilMs = waitUntil(state, lane, nowMs, rules);
  return untilMs === null ? grant(state, nowMs, rules) : { state, result: { untilMs } };
}

/** The budget as people read it, for lane `list`. */
export function budgetViewOf(stored: RateLimitState, nowMs: number, rules: Rules): BudgetView {
  const state = expireFlights(stored, nowMs);
  const window = liveWindow(state, nowMs);
  const untilMs = waitUntil(state, "list", nowMs, rules);
  return {
    limit: state.limit,
    granted: grantedPerWindow(state, nowMs, rules),
    remaining: window ? Math.max(0, leftIn(window, state)) : null,
    waitMs: untilMs === null ? 0 : Math.max(0, Math.ceil(untilMs - nowMs)),
  };
}

/** null: now. */
function waitUntil(state: RateLimitState, lane: Lane, nowMs: number, rules: Rules): number | null {
  const { pausedUntil, serialUntil } = state.refusals;
  if (pausedUntil !== null && nowMs < pausedUntil) return pausedUntil;
  if (serialUntil !== null && nowMs < serialUntil && state.flights.length > 0) return nextDeadline(state);
  return waitInWindow(state, lane, nowMs, rules);
}

function waitInWindow(state: RateLimitState, lane: Lane, nowMs: number, rules: Rules): number | null {
  const window = liveWindow(state, nowMs);
  if (!window) return waitToOpen(state, nowMs, rules);
  const held = heldBack(state, lane, nowMs, rules);
  const free = leftIn(window, state) - held - 1;
  const kept = lane !== "webhook" && keptForLook(state, window, nowMs, rules);
  if (free >= Math.max(probesHeld(window, held, nowMs, rules), kept ? 1 : 0)) return null;
  const untilMs = Math.min(window.deadAt, nextDeadline(state), eventShareAt(window, lane, nowMs, rules));
  if (free < 0) return untilMs;
  const probeAt = window.deadAt - (free + 1) * probeSpacingMs(window, held, rules) + 1;
  return Math.min(untilMs, kept && free < 1 ? Math.max(probeAt, lookAt(window, rules)) : probeAt);
}

/** When the share kept for events is released to this lane; Infinity when it changes nothing. */
function eventShareAt(window: Window, lane: Lane, nowMs: number, rules: Rules): number {
  const releasedAt = eventsReleasedAt(window, rules);
  return lane !== "webhook" && rules.eventShare > 0 && nowMs < releasedAt ? releasedAt : Infinity;
}

/** Looking for the reset more often than this gains nothing. */
const minProbeSpacingMs = 5_000;
const probesPerWindow = 12;

/**
 * A window whose opening was not seen may end any moment. Most of it is spent at once; a few permits are kept and
 * released one by one, so that the reset is seen soon and the next window is known exactly.
 */
function probesHeld(window: Window, held: number, nowMs: number, rules: Rules): number {
  const unsureFrom = Math.max(nowMs, window.aliveUntil);
  return Math.max(0, Math.floor((window.deadAt - unsureFrom) / probeSpacingMs(window, held, rules)));
}

function probeSpacingMs(window: Window, held: number, rules: Rules): number {
  const usable = Math.max(1, Math.min(probesPerWindow, window.first - held));
  return Math.max(minProbeSpacingMs, rules.windowMs / usable);
}

/**
 * The last window is over: one request opens the next and shows its state. Late requests may have opened it
 * already; if they can have filled it, it must end first.
 */
function waitToOpen(state: RateLimitState, nowMs: number, rules: Rules): number | null {
  const opener = state.flights.findLast((flight) => flight.opener);
  const answerBy = opener ? opener.sentAt + rules.openerTimeoutMs : nowMs;
  if (nowMs < answerBy) return answerBy;
  const possible = stillLate(state, nowMs, rules).length + state.flights.length;
  if (possible < limitOf(state, rules)) return null;
  return Math.min(lateWindowEndsAt(state, rules) ?? Infinity, nextDeadline(state));
}

function nextDeadline(state: RateLimitState): number {
  return Math.min(Infinity, ...state.flights.map((flight) => flight.deadlineAt));
}

function grant(state: RateLimitState, nowMs: number, rules: Rules): BudgetStep<Admitted> {
  const live = liveWindow(state, nowMs);
  const flight: Flight = {
    id: state.nextId,
    sentAt: nowMs,
    deadlineAt: nowMs + rules.permitMs,
    opener: live === null,
    windowId: state.window?.id ?? 0,
    ceiling: state.window?.lowest ?? 0,
  };
  const next = {
    ...state,
    nextId: state.nextId + 1,
    flights: [...state.flights, flight],
    ...(live ? { window: { ...live, issued: live.issued + 1 } } : { late: stillLate(state, nowMs, rules) }),
  };
  return { state: next, result: { flight } };
}

/** For how many windows other programs count as present after they were last seen. */
const rememberedWindows = 10;
/** How far ahead the use of others is estimated: an answer takes this long at most, usually. */
const lookaheadMs = 2_000;
/** With a smaller limit no permit is kept for the last look. */
const smallestLimitWithLook = 20;

/** Did other programs use the budget in the last windows? */
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

/** When the share kept for events is released to the other lanes. */
function eventsReleasedAt(window: Window, rules: Rules): number {
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

/** When the last permit of the window is released. */
function lookAt(window: Window, rules: Rules): number {
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
  return { ...others, perWindow: Math.max(window.foreign, before) };
}

export function seenNow(others: Others, nowMs: number, rules: Rules): Others {
  return { ...others, until: nowMs + rememberedWindows * rules.windowMs };
}
