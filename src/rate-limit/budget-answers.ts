import { countAsSpent, extendAlive, noteLate, removeFlight, limitOf } from "./state.ts";
import type { BudgetAnswer, Flight, RateLimitState, Refusals, Rules, Window } from "./state.ts";
import { othersAfter, seenLately, seenNow, withForeign } from "./foreign-use.ts";

/** Updates the state by an answer, whose `remaining` is of when the request was counted, or of when it was answered. */
export function applyAnswer(before: RateLimitState, flight: Flight, answer: BudgetAnswer, rules: Rules) {
  const { limit, remaining, nowMs } = answer;
  const known = limit !== null && limit >= 1 ? { ...before, limit } : before;
  const state = removeFlight(known, flight);
  if (answer.status === 429) return applyRefusal(state, flight, answer, rules);
  const calm = { ...state, refusals: accepted(state.refusals, flight) };
  if (remaining === null || remaining < 0) return countAsSpent(calm, flight, nowMs);
  return applyReport(calm, { flight, nowMs, remaining }, rules);
}

interface Report {
  readonly flight: Flight;
  readonly nowMs: number;
  readonly remaining: number;
}

function applyReport(state: RateLimitState, report: Report, rules: Rules): RateLimitState {
  const { flight, nowMs, remaining } = report;
  const current = state.window?.id === flight.windowId;
  if (remaining >= limitOf(state, rules)) return endWindow(state, report, current);
  if (!state.window || (current && showsNewWindow(state.window, report)))
    return openWindow(state, report, rules);
  const window = current ? withinWindow(state.window, report) : afterRoll(state.window, report);
  const next = current ? withForeign(state, window, nowMs, rules) : { ...state, window };
  const isOldWindow = current && showsOldWindow(state, report, rules);
  return isOldWindow ? extendAlive(next, flight) : noteLate(next, flight, nowMs);
}

/** A full budget: the window that counted this request is over, and no other is open yet. */
function endWindow(state: RateLimitState, report: Report, current: boolean): RateLimitState {
  const { flight, nowMs } = report;
  if (!current || !state.window) return noteLate(state, flight, nowMs);
  const window = { ...state.window, deadAt: Math.min(state.window.deadAt, nowMs) };
  return noteLate({ ...state, window }, flight, nowMs);
}

/**
 * Within one window a request leaves less than was known when it was sent. Otherwise a later window counted it;
 * or, before this window can have ended, the low value came from an older one.
 */
function showsNewWindow(window: Window, { flight, nowMs, remaining }: Report): boolean {
  if (flight.opener) return true;
  return remaining >= flight.ceiling && nowMs >= window.aliveUntil;
}

function openWindow(state: RateLimitState, report: Report, rules: Rules): RateLimitState {
  const { flight, nowMs, remaining } = report;
  const own = state.late.length + state.flights.length + 1;
  const unexplained = limitOf(state, rules) - remaining - own;
  const spent = state.late.filter((hit) => hit.endedAt >= flight.sentAt).map((hit) => hit.endedAt);
  const cold = state.window === null;
  const window: Window = {
    id: (state.window?.id ?? 0) + 1,
    aliveUntil: openedAfter(state, report, unexplained, rules) + rules.windowMs - rules.shorterByMs,
    deadAt: nowMs + rules.windowMs + rules.epsilonMs,
    first: remaining,
    lowest: remaining,
    lowestAt: nowMs,
    issued: state.flights.length + spent.length,
    spent,
    foreign: cold ? 0 : Math.max(0, unexplained),
    inherited: cold && unexplained > 0,
  };
  const others = othersAfter(state, rules);
  return {
    ...state,
    window,
    late: state.late.filter((hit) => hit.endedAt > nowMs),
    others: window.foreign > 0 ? seenNow(others, nowMs, rules) : others,
    refusals: easedCaution(state.refusals, nowMs, rules),
  };
}

/** The earliest time at which the reported window can have opened. */
function openedAfter(state: RateLimitState, report: Report, unexplained: number, rules: Rules): number {
  const { flight, remaining } = report;
  const before = Math.max(state.window?.aliveUntil ?? -Infinity, flight.sentAt - rules.windowMs);
  if (remaining === limitOf(state, rules) - 1) return Math.max(before, flight.sentAt);
  if (unexplained > 0) return before;
  const sentAt = [...state.flights, ...state.late].map((own) => own.sentAt);
  return Math.max(before, Math.min(flight.sentAt, ...sentAt));
}

/** The report of a request that was sent while this window was known. */
function withinWindow(window: Window, { flight, nowMs, remaining }: Report): Window {
  const known = { ...window, spent: window.spent.filter((at) => at >= flight.sentAt) };
  const staleLow = remaining >= flight.ceiling && flight.sentAt > window.lowestAt;
  if (remaining >= window.lowest && !staleLow) return known;
  return { ...known, lowest: remaining, lowestAt: nowMs };
}

/**
 * Less is left than own requests, late or in flight, can have left of a new window. While others are seen that says
 * nothing: they may have taken the rest of a new one.
 */
function showsOldWindow(state: RateLimitState, { remaining, nowMs }: Report, rules: Rules): boolean {
  if (seenLately(state, nowMs)) return false;
  return remaining < limitOf(state, rules) - (state.late.length + state.flights.length + 1);
}

/**
 * The report of a request that was sent before this window was known: this window or the one before counted it.
 * If less is left than own requests can have taken of this window, it is about the one before.
 */
function afterRoll(window: Window, { nowMs, remaining }: Report): Window {
  if (remaining < window.first - window.issued || remaining >= window.lowest) return window;
  return { ...window, lowest: remaining, lowestAt: nowMs };
}

/** A longer `Retry-After` is cut to this many windows: a window has ended by then, and `http.patience` is judged by answers. */
const longestWaitWindows = 2;
/** Also after a 429 of a window that is over or about to end. */
const shortestWaitMs = 2_000;

/** Applies a 429: the request was not counted, the window is spent, and others spent some of it. */
function applyRefusal(
  state: RateLimitState,
  flight: Flight,
  { nowMs, retryAfterS }: BudgetAnswer,
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
