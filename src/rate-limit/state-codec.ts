import { defaultRules, storedState, type RateLimitState, type Rules } from "./state.ts";

/** The clocks of the process that reads or writes a state. The monotonic clock starts anew with each boot. */
export interface Origin {
  /** Which boot of the machine; null where that is not known. */
  readonly bootId: string | null;
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/** The state as JSON, with the clocks that its times belong to. */
export function encodeState(state: RateLimitState, here: Origin): string {
  return JSON.stringify({ version: 1, ...here, state });
}

const clockErrorMs = 1_000;
/** No pause ends later than this. */
const furthestMs = 24 * 3_600_000;

/** Every time in a state by its key, and how far ahead of now it may be. */
const mostAheadMs: Readonly<Record<string, number>> = {
  sentAt: clockErrorMs,
  lowestAt: clockErrorMs,
  lastAt: clockErrorMs,
  deadlineAt: furthestMs,
  endedAt: furthestMs,
  spent: furthestMs,
  aliveUntil: furthestMs,
  deadAt: furthestMs,
  pausedUntil: furthestMs,
  serialUntil: furthestMs,
  until: furthestMs,
};

/**
 * Reads a state with its times on the clocks of this process; times of another boot are carried over by the wall
 * clock. Null for anything implausible: a cold start costs little, a wrong time could block requests for ever.
 */
export function decodeState(
  text: string,
  here: Origin,
  { windowMs }: Pick<Rules, "windowMs"> = defaultRules,
): RateLimitState | null {
  const parsed = storedState.safeParse(parseJson(text));
  if (!parsed.success) return null;
  const { state, ...there } = parsed.data;
  const driftMs = there.wallMs - there.monotonicMs - (here.wallMs - here.monotonicMs);
  const sameClock = isSameClock(there, here, driftMs);
  const shiftMs = sameClock ? 0 : driftMs;
  if (there.monotonicMs + shiftMs > here.monotonicMs + clockErrorMs) return null;
  let isPlausible = true;
  const known = mapTimes(state, (at, aheadMs) => {
    const time = at + shiftMs;
    isPlausible &&= time <= here.monotonicMs + aheadMs;
    return time;
  });
  if (!isPlausible) return null;
  return sameClock ? known : awaitLostSteps(known, windowMs + clockErrorMs);
}

/**
 * The machine may have lost power, and the file its last steps with it. The window that they were counted in, whichever
 * that was, is over this long after the boot.
 */
function awaitLostSteps(state: RateLimitState, sinceBootMs: number): RateLimitState {
  const pausedUntil = Math.max(state.refusals.pausedUntil ?? 0, sinceBootMs);
  return { ...state, refusals: { ...state.refusals, pausedUntil } };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isSameClock(there: Origin, here: Origin, driftMs: number): boolean {
  if (there.bootId !== null && here.bootId !== null) return there.bootId === here.bootId;
  return Math.abs(driftMs) < clockErrorMs;
}

type ChangeTime = (at: number, aheadMs: number) => number;

/** A copy with all its times changed; `key` is where the value stands. */
function mapTimes<T>(value: T, change: ChangeTime, key = ""): T {
  const aheadMs = mostAheadMs[key];
  const map = (each: unknown, name: string) => mapTimes(each, change, name);
  let changed: unknown = value;
  if (typeof value === "number" && aheadMs !== undefined) changed = change(value, aheadMs);
  else if (Array.isArray(value)) changed = value.map((each) => map(each, key));
  else if (typeof value === "object" && value !== null)
    changed = Object.fromEntries(Object.entries(value).map(([name, each]) => [name, map(each, name)]));
  return changed as T;
}
