import type { Lane } from "../base/lane.ts";
import { expireFlights, lateWindowEndsAt, stillLate, leftIn, limitOf, liveWindow } from "./state.ts";
import type { BudgetStep, Flight, RateLimitState, Rules, Window } from "./state.ts";
import type { BudgetView } from "./permit.ts";
import { eventsReleasedAt, grantedPerWindow, heldBack, keptForLook, lookAt } from "./foreign-use.ts";

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
