import { coldState, defaultRules, storedState, type RateLimitState } from "./state.ts";

/** The clocks of the process that reads or writes a state. The monotonic clock starts anew with each boot. */
export interface Clocks {
  /** Which boot of the machine; null where that is not known. */
  readonly bootId: string | null;
  readonly monotonicMs: number;
  readonly wallMs: number;
}

/** The state as JSON, with the clocks that its times belong to. */
export function encodeState(state: RateLimitState, here: Clocks): string {
  return JSON.stringify({ version: 1, ...here, state });
}

const clockErrorMs = 1_000;
/** No pause ends later than this. */
const furthestMs = 24 * 3_600_000;

/**
 * Reads a state. Null for anything implausible: a cold start costs little, a wrong time could block requests for ever.
 *
 * After another boot the times mean nothing, and if the machine lost power the file may lack its last steps: it is a cold
 * start, once the window that they were counted in, whichever that was, is over.
 */
export function decodeState(
  text: string,
  here: Clocks,
  windowMs = defaultRules.windowMs,
): RateLimitState | null {
  const parsed = storedState.safeParse(parseJson(text));
  if (!parsed.success) return null;
  const { state, ...there } = parsed.data;
  if (!isSameClock(there, here)) {
    const refusals = { ...coldState.refusals, pausedUntil: windowMs + clockErrorMs };
    return { ...coldState, limit: state.limit, nextId: state.nextId, refusals };
  }
  const isPlausible =
    there.monotonicMs <= here.monotonicMs + clockErrorMs &&
    lastTimeIn(state) <= here.monotonicMs + furthestMs;
  return isPlausible ? state : null;
}

/** The latest of the times for which something waits. */
function lastTimeIn({ window, flights, late, refusals, others }: RateLimitState): number {
  const { pausedUntil, serialUntil } = refusals;
  const ends = [...flights.map(({ deadlineAt }) => deadlineAt), ...late.map(({ endedAt }) => endedAt)];
  return Math.max(window?.deadAt ?? 0, pausedUntil ?? 0, serialUntil ?? 0, others.until ?? 0, ...ends);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Where boots have no id, both clocks must agree. */
function isSameClock(there: Clocks, here: Clocks): boolean {
  if (there.bootId !== null && here.bootId !== null) return there.bootId === here.bootId;
  return Math.abs(there.wallMs - there.monotonicMs - (here.wallMs - here.monotonicMs)) < clockErrorMs;
}
