import { z } from "zod";
import type { BudgetHeaders } from "./permit.ts";

const time = z.number();
const count = z.int().min(0);

const windowSchema = z.object({
  id: count,
  /** It cannot have ended before. */
  aliveUntil: time,
  /** It has ended by then. */
  deadAt: time,
  /** Remaining by the first answer that showed this window. */
  first: count,
  /** Lowest reported remaining, and when it was received. */
  lowest: count,
  lowestAt: time,
  /** Own requests that can have been counted after `first` was. */
  issued: count,
  /** When requests without a report were counted at the latest: spent, until a later report includes them. */
  spent: z.array(time),
  /** Counted requests that own ones do not explain. */
  foreign: count,
  /** Partly used before the state begins, by us or others. */
  inherited: z.boolean(),
});

const flightSchema = z.object({
  id: count,
  sentAt: time,
  /** Then it counts as lost, so that a process that died holds no permit for ever. */
  deadlineAt: time,
  /** Sent while no window was open, to show the next. */
  opener: z.boolean(),
  /** The window when it was sent (0: none), and the lowest value known then. */
  windowId: count,
  ceiling: count,
});

/**
 * What is known of the service's rate limiter. Times are milliseconds of the monotonic clock.
 * Source of truth: the service's answers. Losing the state costs one careful start.
 *
 * The service counts in fixed windows; one opens with the first counted request after the last has ended
 * (interface document, "Limits"). Its end is only known between two bounds, `aliveUntil` and `deadAt`.
 */
const stateSchema = z.object({
  /** As the service last stated; null before. */
  limit: z.int().min(1).nullable(),
  window: windowSchema.nullable(),
  /** Requests in flight, of all processes. */
  flights: z.array(flightSchema),
  nextId: z.int().min(1),
  /** Requests that were counted, at the latest (`endedAt`), when the window may be over: the next one may count them. */
  late: z.array(z.object({ sentAt: time, endedAt: time })),
  refusals: z.object({
    /** In a row; those of one burst count as one. */
    inARow: count,
    lastAt: time.nullable(),
    pausedUntil: time.nullable(),
    /** Until then one request at a time. */
    serialUntil: time.nullable(),
    /** Permits held back because of them. */
    caution: count,
  }),
  /** Other programs that use the same company's budget. */
  others: z.object({
    /** What they lately took of a window. */
    perWindow: count,
    /** They count as present until then. */
    until: time.nullable(),
  }),
});

/** The state as it is stored, with the clocks of the process that wrote it; see `Clocks`. */
export const storedState = z.object({
  version: z.literal(1),
  bootId: z.string().nullable(),
  monotonicMs: time,
  wallMs: time,
  state: stateSchema,
});

export type RateLimitState = z.output<typeof stateSchema>;
export type Window = NonNullable<RateLimitState["window"]>;
export type Flight = RateLimitState["flights"][number];
export type Refusals = RateLimitState["refusals"];
export type Others = RateLimitState["others"];

/** The end of one request, as its answer's head reports it. */
export interface BudgetAnswer extends BudgetHeaders {
  readonly status: number;
  /** When it was received. */
  readonly nowMs: number;
}

/** Settings of the decisions; limit and window as the interface document states them. */
export const defaultRules = {
  windowMs: 60_000,
  /** Until the service states its own. */
  defaultLimit: 120,
  /** Share of the limit left to other programs while they are seen. */
  reserveShare: 0.1,
  /** Share of the limit that only events may use; 0 where none are received. */
  eventShare: 0,
  /** The event share is kept until so long before a window's earliest end. */
  eventsUntilMs: 4_000,
  /** A service that counts in whole seconds may end a window this much sooner. */
  shorterByMs: 1_000,
  /** Clocks drift apart: a window counts as over this much later. */
  epsilonMs: 100,
  /** A permit without an answer for this long is lost; longer than the deadline of an attempt. */
  permitMs: 90_000,
  /** After this long without an answer to an opener, another one may go. */
  openerTimeoutMs: 10_000,
  /** The last permit of a window is kept until so long before its earliest end. */
  lookBeforeMs: 1_000,
};

export type Rules = Readonly<typeof defaultRules>;

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

export function removeFlight(state: RateLimitState, flight: Flight): RateLimitState {
  return { ...state, flights: state.flights.filter((other) => other.id !== flight.id) };
}

/**
 * A request that got no answer: counts as spent. Nobody waits for it any more, and it may be on its way still: the service
 * may count it until its deadline, unless its connection broke.
 */
export function applyLoss(state: RateLimitState, flight: Flight, nowMs: number, mayArrive = false) {
  return countAsSpent(removeFlight(state, flight), flight, nowMs, mayArrive ? flight.deadlineAt : nowMs);
}

export function expireFlights(state: RateLimitState, nowMs: number): RateLimitState {
  return state.flights
    .filter((flight) => flight.deadlineAt <= nowMs)
    .reduce((next, flight) => applyLoss(next, flight, nowMs), state);
}

/** A request that ended without a report of the budget: spent in this window, and possibly in the next. */
export function countAsSpent(state: RateLimitState, flight: Flight, nowMs: number, countedBy = nowMs) {
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

export function stillLate(state: RateLimitState, nowMs: number, rules: Rules): RateLimitState["late"] {
  const endsAt = lateWindowEndsAt(state, rules);
  return endsAt !== null && endsAt <= nowMs ? [] : state.late;
}

export interface RateLimitStore {
  /** Other processes change it too. */
  readonly shared: boolean;
  /** Runs `step` alone: no other step between its read and its write. */
  transact<T>(step: (state: RateLimitState) => BudgetStep<T>): T;
  read(): RateLimitState;
  close(): void;
}

export interface BudgetStep<T> {
  readonly state: RateLimitState;
  readonly result: T;
}

/** A store for one process; it ends with it. */
export function createMemoryRateLimitStore(): RateLimitStore {
  let state = coldState;
  return {
    shared: false,
    transact(step) {
      const done = step(state);
      state = done.state;
      return done.result;
    },
    read: () => state,
    close: () => undefined,
  };
}
