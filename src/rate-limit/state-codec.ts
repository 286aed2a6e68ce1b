import { z } from "zod";

const time = z.number();
const count = z.int().min(0);

const window = z.object({
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
  /** When requests without a report ended: spent, until a later report includes them. */
  spent: z.array(time),
  /** Counted requests that own ones do not explain. */
  foreign: count,
  /** Partly used before the state begins, by us or others. */
  inherited: z.boolean(),
});

const flight = z.object({
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
const storedState = z.object({
  /** As the service last stated; null before. */
  limit: z.int().min(1).nullable(),
  window: window.nullable(),
  /** Requests in flight, of all processes. */
  flights: z.array(flight),
  nextId: z.int().min(1),
  /** Requests that ended when the window may already have been over: the next window may have counted them. */
  late: z.array(z.object({ sentAt: time, endedAt: time })),
  /** Answers with status 429. */
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
const document = z.object({
  version: z.literal(1),
  bootId: z.string().nullable(),
  monotonicMs: time,
  wallMs: time,
  state: storedState,
});

/** The state as it is stored. */
export type StoredState = z.output<typeof storedState>;

/** The clocks of the process that reads or writes a state. The monotonic clock starts anew with each boot. */
export interface Origin {
  /** Which boot of the machine; null where that is not known. */
  readonly bootId: string | null;
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/** The state as JSON, with the clocks that its times belong to. */
export function encodeState(state: StoredState, here: Origin): string {
  return JSON.stringify({ version: 1, ...here, state });
}

/**
 * Reads a state with its times on the clocks of this process; times of another boot are carried over by the wall
 * clock. Null for anything implausible: a cold start costs little, a wrong time could block requests for ever.
 */
export function decodeState(text: string, here: Origin): StoredState | null {
  const parsed = document.safeParse(parseJson(text));
  if (!parsed.success) return null;
  const { state, ...there } = parsed.data;
  const sameClock = isSameClock(there, here);
  const shiftMs = sameClock ? 0 : there.wallMs - there.monotonicMs - (here.wallMs - here.monotonicMs);
  if (there.monotonicMs + shiftMs > here.monotonicMs + clockErrorMs) return null;
  const shift = (at: number) => at + shiftMs;
  // Requests of a machine that has gone down get no answer any more.
  const deadline = (at: number) => (sameClock ? at : Math.min(shift(at), here.monotonicMs));
  const known = withTimes(state, { past: shift, future: shift, deadline });
  return isPlausible(known, here.monotonicMs) ? known : null;
}

const clockErrorMs = 1_000;
/** No pause ends later than this. */
const furthestMs = 24 * 3_600_000;

function parseJson(text: string): unknown {
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

type ChangeTime = (at: number) => number;
const maybe = (change: ChangeTime, at: number | null) => (at === null ? null : change(at));
type TimeChanges = Readonly<Record<"past" | "future" | "deadline", ChangeTime>>;

/** The state with all its times changed, those of the past, of the future, and the deadlines of requests. */
function withTimes(state: StoredState, { past, future, deadline }: TimeChanges): StoredState {
  const { window: known, flights, late, refusals, others } = state;
  return {
    ...state,
    window: known && {
      ...known,
      aliveUntil: future(known.aliveUntil),
      deadAt: future(known.deadAt),
      lowestAt: past(known.lowestAt),
      spent: known.spent.map(past),
    },
    flights: flights.map((one) => ({
      ...one,
      sentAt: past(one.sentAt),
      deadlineAt: deadline(one.deadlineAt),
    })),
    late: late.map(({ sentAt, endedAt }) => ({ sentAt: past(sentAt), endedAt: past(endedAt) })),
    refusals: {
      ...refusals,
      lastAt: maybe(past, refusals.lastAt),
      pausedUntil: maybe(future, refusals.pausedUntil),
      serialUntil: maybe(future, refusals.serialUntil),
    },
    others: { ...others, until: maybe(future, others.until) },
  };
}

function isPlausible(state: StoredState, nowMs: number): boolean {
  let isFine = true;
  const atMost = (latestMs: number) => (at: number) => {
    isFine &&= at <= latestMs;
    return at;
  };
  const future = atMost(nowMs + furthestMs);
  withTimes(state, { past: atMost(nowMs + clockErrorMs), future, deadline: future });
  return isFine;
}
