import { liveWindow, type Flight, type LateHit, type RateLimitState, type Rules } from "./state.ts";

/** Removes a request that ended from those in flight. */
export function removeFlight(state: RateLimitState, flight: Flight): RateLimitState {
  return { ...state, flights: state.flights.filter((other) => other.id !== flight.id) };
}

/**
 * A request that got no answer: counts as spent. Nobody waits for it any more, and it may be on its way still: the service
 * may count it until its deadline, unless its connection broke.
 */
export function applyLoss(
  state: RateLimitState,
  flight: Flight,
  nowMs: number,
  mayArrive = false,
): RateLimitState {
  return countAsSpent(removeFlight(state, flight), flight, nowMs, mayArrive ? flight.deadlineAt : nowMs);
}

/** Ends the requests whose deadline is over. */
export function expireFlights(state: RateLimitState, nowMs: number): RateLimitState {
  return state.flights
    .filter((flight) => flight.deadlineAt <= nowMs)
    .reduce((next, flight) => applyLoss(next, flight, nowMs), state);
}

/** A request that ended without a report of the budget: spent in this window, and possibly in the next. */
export function countAsSpent(
  state: RateLimitState,
  flight: Flight,
  nowMs: number,
  countedBy = nowMs,
): RateLimitState {
  const window = liveWindow(state, nowMs);
  const spent = window ? { ...window, spent: [...window.spent, countedBy] } : state.window;
  return noteLate({ ...state, window: spent }, flight, countedBy);
}

/** Remembers a request that ended when the window may already have been over: the next one may have counted it. */
export function noteLate(state: RateLimitState, flight: Flight, nowMs: number): RateLimitState {
  if (state.window && nowMs < state.window.aliveUntil) return state;
  return { ...state, late: [...state.late, { sentAt: flight.sentAt, endedAt: nowMs }] };
}

/** The window was still alive when this request was sent: it counted what ended before. */
export function extendAlive(state: RateLimitState, flight: Flight): RateLimitState {
  if (!state.window || flight.sentAt <= state.window.aliveUntil) return state;
  const late = state.late.filter((hit) => hit.endedAt >= flight.sentAt);
  return { ...state, window: { ...state.window, aliveUntil: flight.sentAt }, late };
}

/** When a window that a late request opened is over at the latest; null without late requests. */
export function lateWindowEndsAt(state: RateLimitState, rules: Rules): number | null {
  if (state.late.length === 0) return null;
  return Math.max(...state.late.map((hit) => hit.endedAt)) + rules.windowMs + rules.epsilonMs;
}

/** Late requests that an open window may still count. */
export function stillLate(state: RateLimitState, nowMs: number, rules: Rules): LateHit[] {
  const endsAt = lateWindowEndsAt(state, rules);
  return endsAt !== null && endsAt <= nowMs ? [] : state.late;
}
