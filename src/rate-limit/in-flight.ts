import { liveWindow, type Flight, type RateLimitState, type LateHit, type Rules } from "./state.ts";

/** The request came to its end: it is no longer under way. */
export function landed(state: RateLimitState, flight: Flight): RateLimitState {
  return { ...state, flights: state.flights.filter((other) => other.id !== flight.id) };
}

/** No word on the budget came back: counted as spent, in this window and possibly in the next. */
export function settledUnheard(state: RateLimitState, flight: Flight, nowMs: number): RateLimitState {
  const window = liveWindow(state, nowMs);
  const spent = window ? { ...window, spent: [...window.spent, nowMs] } : state.window;
  return noteLate({ ...state, window: spent }, flight, nowMs);
}

/** Whatever settles when the window may be over may have been counted by the next one. */
export function noteLate(state: RateLimitState, flight: Flight, nowMs: number): RateLimitState {
  if (state.window && nowMs < state.window.aliveUntil) return state;
  return { ...state, late: [...state.late, { sentAt: flight.sentAt, settledAt: nowMs }] };
}

/** The window was still alive when this request was sent: what settled before was counted in it. */
export function provenAlive(state: RateLimitState, flight: Flight): RateLimitState {
  if (!state.window || flight.sentAt <= state.window.aliveUntil) return state;
  const late = state.late.filter((hit) => hit.settledAt >= flight.sentAt);
  return { ...state, window: { ...state.window, aliveUntil: flight.sentAt }, late };
}

export function expireFlights(state: RateLimitState, nowMs: number): RateLimitState {
  return state.flights
    .filter((flight) => flight.deadlineAt <= nowMs)
    .reduce((next, flight) => lost(next, flight, nowMs), state);
}

/** No answer came: counts as spent. */
export function lost(state: RateLimitState, flight: Flight, nowMs: number): RateLimitState {
  return settledUnheard(landed(state, flight), flight, nowMs);
}

/** A window that a late request opened is over when a whole window has passed since the last of them. */
export function lateLimitAt(state: RateLimitState, rules: Rules): number | null {
  const last = state.late.at(-1);
  return last ? last.settledAt + rules.windowMs + rules.epsilonMs : null;
}

export function stillLate(state: RateLimitState, nowMs: number, rules: Rules): readonly LateHit[] {
  const overAt = lateLimitAt(state, rules);
  return overAt !== null && overAt <= nowMs ? [] : state.late;
}
