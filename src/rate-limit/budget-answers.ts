import { countAsSpent, extendAlive, noteLate, removeFlight } from "./in-flight.ts";
import { accepted, applyRefusal, easedCaution } from "./refused-requests.ts";
import { othersAfter, seenLately, seenNow, withForeign } from "./foreign-use.ts";
import { limitOf, type Answer, type Flight, type RateLimitState, type Rules, type Window } from "./state.ts";

/**
 * Updates the state by an answer. Its `remaining` may be the value when the service counted the request, or when
 * it answered.
 */
export function applyAnswer(
  before: RateLimitState,
  flight: Flight,
  answer: Answer,
  rules: Rules,
): RateLimitState {
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
