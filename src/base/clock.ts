/** The time, passed in so that tests can drive it. Decisions use `monotonicMs`, which never goes back. */
export interface Clock {
  /** Wall clock, milliseconds since 1970. For people and files, never for ordering. */
  nowMs(): number;
  /** Milliseconds since some fixed point; on Linux the same point for every process since boot. */
  monotonicMs(): number;
  /** Resolves after `ms`, or at once when `signal` aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** Node ends a longer one at once. */
export const longestTimerMs = 2_147_483_647;

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => Number(process.hrtime.bigint() / 1000n) / 1000,
  sleep,
};

/** Node's own promise of a timer makes an error with a stack for each wait that is ended early: every request has one. */
function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    let timer: NodeJS.Timeout;
    const arm = (leftMs: number): void => {
      const nextMs = Math.min(leftMs, longestTimerMs);
      timer = setTimeout(leftMs > nextMs ? () => arm(leftMs - nextMs) : end, nextMs);
    };
    arm(ms);
    signal?.addEventListener("abort", end);
  });
}

/** A clock that is kept right by small steps goes back by less than this. */
const clockStepMs = 60_000;

/** How long ago that was, ms. Infinity where it lies in the future: the clock was set back since. */
export function elapsedSince(atMs: number, nowMs: number): number {
  return atMs - nowMs > clockStepMs ? Infinity : nowMs - atMs;
}

let lastTime = { epochMs: Number.NaN, text: "" };

/** ISO 8601 in UTC: `2026-11-21T02:15:00.000Z`. Formatted once for all records of an answer, or deliveries of a commit. */
export function isoTime(epochMs: number): string {
  if (lastTime.epochMs !== epochMs) lastTime = { epochMs, text: new Date(epochMs).toISOString() };
  return lastTime.text;
}

export function isoOrNull(epochMs: number | null): string | null {
  return epochMs === null ? null : isoTime(epochMs);
}

export function msOrNull(iso: string | null): number | null {
  return iso === null ? null : Date.parse(iso);
}

/** The calendar day in an IANA time zone: `2026-11-22`. Throws a RangeError for an unknown zone. */
export function localDate(epochMs: number, timeZone: string): string {
  return new Date(epochMs).toLocaleDateString("sv", { timeZone });
}

/** Is the text a day of the calendar, such as `2026-02-28`? */
export function isCalendarDay(text: string): boolean {
  const isForm = /^\d{4}-\d{2}-\d{2}$/.test(text);
  return isForm && new Date(`${text}T00:00:00Z`).toJSON()?.slice(0, 10) === text;
}
