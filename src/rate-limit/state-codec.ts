import { z } from "zod";
import type { RateLimitState } from "./state.ts";

/** The clocks of the process that reads or writes a state. The monotonic clock starts anew with each boot. */
export interface Origin {
  /** Which boot of the machine; null where that is not known. */
  readonly bootId: string | null;
  readonly monotonicMs: number;
  readonly wallMs: number;
}

const time = z.number();
const count = z.int().min(0);
const stateSchema = z.object({
  limit: z.int().min(1).nullable(),
  window: z
    .object({
      id: count,
      aliveUntil: time,
      deadAt: time,
      first: count,
      lowest: count,
      lowestAt: time,
      issued: count,
      spent: z.array(time),
      foreign: count,
      inherited: z.boolean(),
    })
    .nullable(),
  flights: z.array(
    z.object({
      id: count,
      sentAt: time,
      deadlineAt: time,
      opener: z.boolean(),
      windowId: count,
      ceiling: count,
    }),
  ),
  nextId: z.int().min(1),
  late: z.array(z.object({ sentAt: time, endedAt: time })),
  refusals: z.object({
    inARow: count,
    lastAt: time.nullable(),
    pausedUntil: time.nullable(),
    serialUntil: time.nullable(),
    caution: count,
  }),
  others: z.object({ perWindow: count, until: time.nullable() }),
});
const documentSchema = z.object({
  version: z.literal(1),
  bootId: z.string().nullable(),
  monotonicMs: time,
  wallMs: time,
  state: stateSchema,
});

/** The state as JSON, with the clocks that its times belong to. */
export function encodeState(state: RateLimitState, here: Origin): string {
  return JSON.stringify({ version: 1, ...here, state });
}

/**
 * Reads a state with its times on the clocks of this process; times of another boot are carried over by the wall
 * clock. Null for anything implausible: a cold start costs little, a wrong time could block requests for ever.
 */
export function decodeState(text: string, here: Origin): RateLimitState | null {
  const document = documentSchema.safeParse(parsed(text));
  if (!document.success) return null;
  const { state, ...there } = document.data;
  const sameClock = isSameClock(there, here);
  const shiftMs = sameClock ? 0 : there.wallMs - there.monotonicMs - (here.wallMs - here.monotonicMs);
  if (there.monotonicMs + shiftMs > here.monotonicMs + clockErrorMs) return null;
  const moved = shifted(state, shiftMs);
  // Requests of a machine that has gone down get no answer any more.
  const known = sameClock ? moved : { ...moved, flights: moved.flights.map(overdue(here.monotonicMs)) };
  return isPlausible(known, here.monotonicMs) ? known : null;
}

const clockErrorMs = 1_000;
/** No pause ends later than this. */
const furthestMs = 24 * 3_600_000;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isSameClock(there: Origin, here: Origin): boolean {
  if (there.bootId !== null && here.bootId !== null) return there.bootId === here.bootId;
  const drift = there.wallMs - there.monotonicMs - (here.wallMs - here.monotonicMs);
  return Math.abs(drift) < clockErrorMs;
}

function overdue(nowMs: number) {
  return <F extends { deadlineAt: number }>(flight: F): F => ({
    ...flight,
    deadlineAt: Math.min(flight.deadlineAt, nowMs),
  });
}

function shifted(state: RateLimitState, ms: number): RateLimitState {
  if (ms === 0) return state;
  const at = (old: number) => old + ms;
  const maybe = (old: number | null) => (old === null ? null : old + ms);
  const { window, refusals, others } = state;
  return {
    ...state,
    window: window && {
      ...window,
      aliveUntil: at(window.aliveUntil),
      deadAt: at(window.deadAt),
      lowestAt: at(window.lowestAt),
      spent: window.spent.map(at),
    },
    flights: state.flights.map((f) => ({ ...f, sentAt: at(f.sentAt), deadlineAt: at(f.deadlineAt) })),
    late: state.late.map((hit) => ({ sentAt: at(hit.sentAt), endedAt: at(hit.endedAt) })),
    refusals: {
      ...refusals,
      lastAt: maybe(refusals.lastAt),
      pausedUntil: maybe(refusals.pausedUntil),
      serialUntil: maybe(refusals.serialUntil),
    },
    others: { ...others, until: maybe(others.until) },
  };
}

const within = (latestMs: number) => (at: number | null | undefined) => (at ?? -Infinity) <= latestMs;

function isPlausible(state: RateLimitState, nowMs: number): boolean {
  const { window, flights, late, refusals, others } = state;
  const past = [
    window?.lowestAt,
    refusals.lastAt,
    ...(window?.spent ?? []),
    ...flights.map((flight) => flight.sentAt),
    ...late.map((hit) => hit.endedAt),
  ];
  const future = [
    window?.deadAt,
    refusals.pausedUntil,
    refusals.serialUntil,
    others.until,
    ...flights.map((flight) => flight.deadlineAt),
  ];
  return past.every(within(nowMs + clockErrorMs)) && future.every(within(nowMs + furthestMs));
}
