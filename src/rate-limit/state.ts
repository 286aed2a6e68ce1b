import type { BudgetHeaders } from "./permit.ts";
import type { StoredState } from "./state-codec.ts";

/** What is known of the service's rate limiter, as plain data; declared in state-codec.ts. */
export type RateLimitState = StoredState;
/** One counting period of the service. */
export type Window = NonNullable<StoredState["window"]>;
/** A request in flight. */
export type Flight = StoredState["flights"][number];
/** A request that ended late. */
export type LateHit = StoredState["late"][number];
/** Answers with status 429. */
export type Refusals = StoredState["refusals"];
/** Other programs that use the same company's budget. */
export type Others = StoredState["others"];

/** The end of one request, as its answer's head reports it. */
export interface Answer extends BudgetHeaders {
  readonly status: number;
  /** When it was received. */
  readonly nowMs: number;
}

/** Settings of the decisions. */
export interface Rules {
  readonly windowMs: number;
  /** Until the service states its own. */
  readonly defaultLimit: number;
  /** Share of the limit left to other programs while they are seen. */
  readonly reserveShare: number;
  /** Share of the limit that only events may use; 0 where none are received. */
  readonly eventShare: number;
  /** The event share is kept until so long before a window's earliest end. */
  readonly eventsUntilMs: number;
  /** A service that counts in whole seconds may end a window this much sooner. */
  readonly shorterByMs: number;
  /** Clocks drift apart: a window counts as over this much later. */
  readonly epsilonMs: number;
  /** A permit without an answer for this long is lost; longer than the deadline of an attempt. */
  readonly permitMs: number;
  /** After this long without an answer to an opener, another one may go. */
  readonly openerTimeoutMs: number;
  /** The last permit of a window is kept until so long before its earliest end. */
  readonly lookBeforeMs: number;
}

/** Limit and window as the interface document states them. */
export const defaultRules: Rules = {
  windowMs: 60_000,
  defaultLimit: 120,
  reserveShare: 0.1,
  eventShare: 0,
  eventsUntilMs: 4_000,
  shorterByMs: 1_000,
  epsilonMs: 100,
  permitMs: 90_000,
  openerTimeoutMs: 10_000,
  lookBeforeMs: 1_000,
};

/** Nothing is known yet. */
export const coldState: RateLimitState = {
  limit: null,
  window: null,
  flights: [],
  nextId: 1,
  late: [],
  refusals: { inARow: 0, lastAt: null, pausedUntil: null, serialUntil: null, caution: 0 },
  others: { perWindow: 0, until: null },
};

/** Requests per window. */
export function limitOf(state: RateLimitState, rules: Rules): number {
  return state.limit ?? rules.defaultLimit;
}

/** The window that counts, or may count, requests sent now; null when a new one must be opened. */
export function liveWindow(state: RateLimitState, nowMs: number): Window | null {
  return state.window && nowMs < state.window.deadAt ? state.window : null;
}

/**
 * Permits that are certainly left if nobody else takes them: everything counted after the lowest report is in
 * flight or spent. Also true of a window that opened unseen, whose reports count as well.
 */
export function leftIn(window: Window, state: RateLimitState): number {
  return window.lowest - window.spent.length - state.flights.length;
}
