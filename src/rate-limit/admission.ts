import type { Lane } from "../base/lane.ts";
import { expireFlights, lateLimitAt, stillLate } from "./in-flight.ts";
import { eventsReleasedAt, heldBack, keptForLook, lookAt } from "./shared-budget.ts";
import { heldAtMostAt, probesHeld } from "./pacing.ts";
import {
  leftIn,
  limitOf,
  liveWindow,
  type Flight,
  type RateLimitState,
  type Rules,
  type Window,
} from "./state.ts";

/** Leave to send one request, or the time at which to ask again at the latest (sooner after an answer). */
type Decision = { readonly flight: Flight } | { readonly untilMs: number };

export interface Admission {
  readonly state: RateLimitState;
  readonly decision: Decision;
}

export function admit(before: RateLimitState, lane: Lane, nowMs: number, rules: Rules): Admission {
  const state = expireFlights(before, nowMs);
  const untilMs = waitUntil(state, lane, nowMs, rules);
  if (untilMs !== null) return { state, decision: { untilMs } };
  return grant(state, nowMs, rules);
}

/** null: now. */
export function waitUntil(state: RateLimitState, lane: Lane, nowMs: number, rules: Rules): number | null {
  const { pausedUntil, serialUntil } = state.refusals;
  if (pausedUntil !== null && nowMs < pausedUntil) return pausedUntil;
  if (serialUntil !== null && nowMs < serialUntil && state.flights.length > 0) return nextDeadline(state);
  return liveWindow(state, nowMs) ? waitInWindow(state, lane, nowMs, rules) : waitToOpen(state, nowMs, rules);
}

function waitInWindow(state: RateLimitState, lane: Lane, nowMs: number, rules: Rules): number | null {
  const window = liveWindow(state, nowMs);
  if (!window) return null;
  const held = heldBack(state, lane, nowMs, rules);
  const free = leftIn(window, state) - held - 1;
  const kept = lane !== "webhook" && keptForLook(state, window, nowMs, rules);
  if (free >= Math.max(probesHeld(window, held, nowMs, rules), kept ? 1 : 0)) return null;
  const eventsAt = releasedLater(window, lane, nowMs, rules);
  if (free < 0) return Math.min(window.deadAt, nextDeadline(state), eventsAt);
  const paced = heldAtMostAt(window, free, held, rules);
  const releasedAt = kept && free < 1 ? Math.max(paced, lookAt(window, rules)) : paced;
  return Math.min(window.deadAt, releasedAt, nextDeadline(state), eventsAt);
}

/** When what is kept for events is let go to this lane. */
function releasedLater(window: Window, lane: Lane, nowMs: number, rules: Rules): number {
  const releasedAt = eventsReleasedAt(window, rules);
  return lane !== "webhook" && rules.eventShare > 0 && nowMs < releasedAt ? releasedAt : Infinity;
}

/**
 * The old window is dead: one request learns of the next. Late requests may have opened it already, and
 * if there were enough of them to fill it, it is full: then it must end first.
 */
function waitToOpen(state: RateLimitState, nowMs: number, rules: Rules): number | null {
  const opener = state.flights.findLast((flight) => flight.opener);
  const patientUntil = opener ? opener.sentAt + rules.openerPatienceMs : nowMs;
  if (nowMs < patientUntil) return patientUntil;
  const possible = stillLate(state, nowMs, rules).length + state.flights.length;
  if (possible < limitOf(state, rules)) return null;
  return Math.min(lateLimitAt(state, rules) ?? Infinity, nextDeadline(state));
}

function nextDeadline(state: RateLimitState): number {
  return Math.min(Infinity, ...state.flights.map((flight) => flight.deadlineAt));
}

function grant(state: RateLimitState, nowMs: number, rules: Rules): Admission {
  const live = liveWindow(state, nowMs);
  const flight: Flight = {
    id: state.nextId,
    sentAt: nowMs,
    deadlineAt: nowMs + rules.permitMs,
    opener: live === null,
    windowId: state.window?.id ?? 0,
    ceiling: state.window?.lowest ?? 0,
  };
  const next: RateLimitState = {
    ...state,
    nextId: state.nextId + 1,
    flights: [...state.flights, flight],
    window: live ? { ...live, issued: live.issued + 1 } : state.window,
    late: live ? state.late : stillLate(state, nowMs, rules),
  };
  return { state: next, decision: { flight } };
}
