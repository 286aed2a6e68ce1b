/**
 * What is believed of the service's rate limiter, as plain data. The service is the source of truth;
 * this is our reading of its answers. Losing it costs one careful start, nothing else.
 *
 * Every time is in milliseconds of the monotonic clock. The limiter is a fixed window that opens with
 * the first counted request after the one before has ended, so a window is believed between two bounds:
 * it cannot have ended before `aliveUntil`, and has ended by `deadAt`.
 */
export interface RateLimitState {
  /** As the service last said; null until it has. */
  readonly limit: number | null;
  readonly window: Window | null;
  /** Sent and not settled, whatever process sent them. */
  readonly flights: readonly Flight[];
  readonly nextId: number;
  /** Requests settled when the window may already have been over: the next one may have counted them. */
  readonly late: readonly LateHit[];
  readonly refusals: Refusals;
  readonly others: Others;
}

export interface Window {
  readonly id: number;
  readonly aliveUntil: number;
  readonly deadAt: number;
  /** Remaining by the first answer that showed this window. */
  readonly first: number;
  readonly lowest: number;
  /** When the lowest value was received. */
  readonly lowestAt: number;
  /** Own requests that can have been counted after `first` was. */
  readonly issued: number;
  /** Settled without a word on the budget, at these times: spent until a later report includes them. */
  readonly spent: readonly number[];
  /** Hits that own requests do not explain. */
  readonly foreign: number;
  /** Used in part before our memory begins: by others, or by us. */
  readonly inherited: boolean;
}

export interface Flight {
  readonly id: number;
  readonly sentAt: number;
  /** After this it counts as lost, so that a process that died does not hold a permit for ever. */
  readonly deadlineAt: number;
  /** Sent when no window was known to be open, to learn of the next. */
  readonly opener: boolean;
  /** The window believed in when it was sent (0: none), and the lowest value known then. */
  readonly windowId: number;
  readonly ceiling: number;
}

export interface LateHit {
  readonly sentAt: number;
  readonly settledAt: number;
}

export interface Refusals {
  /** 429 in a row; those of one burst are one. */
  readonly inARow: number;
  readonly lastAt: number | null;
  readonly pausedUntil: number | null;
  /** Until then one request at a time. */
  readonly serialUntil: number | null;
  /** Permits held back because of them. */
  readonly caution: number;
}

/** Other clients of the same company. */
export interface Others {
  /** What they took of a window, lately. */
  readonly perWindow: number;
  /** Taken as present until then. */
  readonly until: number | null;
}

export interface Rules {
  readonly windowMs: number;
  /** Until the service says its own. */
  readonly defaultLimit: number;
  /** Share of the limit left to other clients while they are seen. */
  readonly reserveShare: number;
  /** Share of the limit that only events may use; 0 where none are received. */
  readonly eventShare: number;
  /** It is kept until so long before a window's earliest end. */
  readonly eventsUntilMs: number;
  /** A service that counts in whole seconds ends a window this much sooner. */
  readonly shorterByMs: number;
  /** Clocks drift apart: a window is not taken as over before this much more. */
  readonly epsilonMs: number;
  /** A permit without an answer for this long is lost. */
  readonly permitMs: number;
  /** An opener without an answer for this long lets the next one go. */
  readonly openerPatienceMs: number;
  /** The last permit of a window is kept until so long before its earliest end. */
  readonly lookBeforeMs: number;
}

export const defaultRules: Rules = {
  windowMs: 60_000,
  defaultLimit: 120,
  reserveShare: 0.1,
  eventShare: 0,
  eventsUntilMs: 4_000,
  shorterByMs: 1_000,
  epsilonMs: 100,
  permitMs: 90_000,
  openerPatienceMs: 10_000,
  lookBeforeMs: 1_000,
};

export const coldState: RateLimitState = {
  limit: null,
  window: null,
  flights: [],
  nextId: 1,
  late: [],
  refusals: { inARow: 0, lastAt: null, pausedUntil: null, serialUntil: null, caution: 0 },
  others: { perWindow: 0, until: null },
};

export function limitOf(state: RateLimitState, rules: Rules): number {
  return state.limit ?? rules.defaultLimit;
}

/** The window requests sent now are surely or possibly counted in; null when a new one must be opened. */
export function liveWindow(state: RateLimitState, nowMs: number): Window | null {
  return state.window && nowMs < state.window.deadAt ? state.window : null;
}

/**
 * Permits that are certainly still there if nobody else takes them: whatever was counted after the lowest
 * report is under way or spent. True also of a window that opened unseen, for its reports count as well.
 */
export function leftIn(window: Window, state: RateLimitState): number {
  return window.lowest - window.spent.length - state.flights.length;
}
