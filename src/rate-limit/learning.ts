import type { BudgetHeaders } from "./permit.ts";
import { landed, noteLate, provenAlive, settledUnheard } from "./in-flight.ts";
import { noticed, othersAfter, withForeign } from "./shared-budget.ts";
import { accepted, easedCaution, refused } from "./refusals.ts";
import { limitOf, type Flight, type RateLimitState, type Rules, type Window } from "./state.ts";

/** What an answer teaches. Headers may say the budget as it was at the hit, or as it is at the answer. */
export function answered(
  before: RateLimitState,
  flight: Flight,
  nowMs: number,
  status: number,
  headers: BudgetHeaders,
  rules: Rules,
): RateLimitState {
  const heard = headers.limit !== null && headers.limit >= 1 ? { ...before, limit: headers.limit } : before;
  const state = landed(heard, flight);
  if (status === 429) return refused(state, flight, nowMs, headers.retryAfterS, rules);
  const calm = { ...state, refusals: accepted(state.refusals, flight) };
  const remaining = headers.remaining;
  if (remaining === null || remaining < 0) return settledUnheard(calm, flight, nowMs);
  return reported(calm, { flight, nowMs, remaining }, rules);
}

interface Report {
  readonly flight: Flight;
  readonly nowMs: number;
  readonly remaining: number;
}

function reported(state: RateLimitState, report: Report, rules: Rules): RateLimitState {
  const { flight, nowMs, remaining } = report;
  const current = state.window?.id === flight.windowId;
  if (remaining >= limitOf(state, rules)) return nothingOpen(state, report, current);
  if (!state.window || (current && showsNewWindow(state.window, report))) return opened(state, report, rules);
  const window = current ? withinWindow(state.window, report) : afterRoll(state.window, report);
  const learned = current ? withForeign(state, window, nowMs, rules) : { ...state, window };
  const old = current && speaksOfOld(state, report, rules);
  return old ? provenAlive(learned, flight) : noteLate(learned, flight, nowMs);
}

/** A full budget: the window this request was counted in is over, and no other has opened yet. */
function nothingOpen(state: RateLimitState, report: Report, current: boolean): RateLimitState {
  const { flight, nowMs } = report;
  if (!current || !state.window) return noteLate(state, flight, nowMs);
  const window = { ...state.window, deadAt: Math.min(state.window.deadAt, nowMs) };
  return noteLate({ ...state, window }, flight, nowMs);
}

/**
 * Within one window a request leaves less than was known when it was sent. One that does not was
 * counted in a later window, or (before the window can have ended) the low value was an older one's.
 */
function showsNewWindow(window: Window, { flight, nowMs, remaining }: Report): boolean {
  if (flight.opener) return true;
  return remaining >= flight.ceiling && nowMs >= window.aliveUntil;
}

function opened(state: RateLimitState, report: Report, rules: Rules): RateLimitState {
  const { flight, nowMs, remaining } = report;
  const own = state.late.length + state.flights.length + 1;
  const unexplained = limitOf(state, rules) - remaining - own;
  const spent = state.late.filter((hit) => hit.settledAt >= flight.sentAt).map((hit) => hit.settledAt);
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
  const others =
    window.foreign > 0 ? noticed(othersAfter(state, rules), nowMs, rules) : othersAfter(state, rules);
  return { ...state, window, late: [], others, refusals: easedCaution(state.refusals, nowMs, rules) };
}

/** The earliest moment at which the window that a report shows can have opened. */
function openedAfter(state: RateLimitState, report: Report, unexplained: number, rules: Rules): number {
  const { flight, remaining } = report;
  const before = Math.max(state.window?.aliveUntil ?? -Infinity, flight.sentAt - rules.windowMs);
  if (remaining === limitOf(state, rules) - 1) return Math.max(before, flight.sentAt);
  if (unexplained > 0) return before;
  return Math.max(
    before,
    Math.min(flight.sentAt, ...[...state.flights, ...state.late].map((own) => own.sentAt)),
  );
}

/** A report of a request that was sent in the belief of this window. */
function withinWindow(window: Window, { flight, nowMs, remaining }: Report): Window {
  const known = { ...window, spent: window.spent.filter((at) => at >= flight.sentAt) };
  const staleLow = remaining >= flight.ceiling && flight.sentAt > window.lowestAt;
  if (remaining >= window.lowest && !staleLow) return known;
  return { ...known, lowest: remaining, lowestAt: nowMs };
}

/** Less is left than own requests, late or under way, could have left of a new window. */
function speaksOfOld(state: RateLimitState, { remaining }: Report, rules: Rules): boolean {
  return remaining < limitOf(state, rules) - (state.late.length + state.flights.length + 1);
}

/**
 * Sent under an earlier belief: counted in this window or the one before. Own requests account for what
 * this window can have lost since; a report of less speaks of the old one.
 */
function afterRoll(window: Window, { nowMs, remaining }: Report): Window {
  if (remaining < window.first - window.issued) return window;
  if (remaining < window.lowest) return { ...window, lowest: remaining, lowestAt: nowMs };
  return window;
}
