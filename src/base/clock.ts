/** The time, passed in so that tests can drive it. Decisions use `monotonicMs`, which never goes back. */
export interface Clock {
  /** Wall clock, milliseconds since 1970. For people and files, never for ordering. */
  nowMs(): number;
  /** Milliseconds since some fixed point; on Linux the same point for every process since boot. */
  monotonicMs(): number;
  /** Resolves after `ms`, or at once when `signal` aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The machine's own clock. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => Number(process.hrtime.bigint() / 1000n) / 1000,
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) {
        resolve();
        return;
      }
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, Math.min(ms, 2_147_483_647));
      signal?.addEventListener("abort", done, { once: true });
    }),
};

/** ISO 8601 in UTC: `2026-11-21T02:15:00.000Z`. */
export function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

/** The calendar day in an IANA time zone: `2026-11-22`. Throws a RangeError for an unknown zone. */
export function localDate(epochMs: number, timeZone: string): string {
  const parts = new Intl.DateTimeFormat("en", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" })
    .formatToParts(epochMs)
    .map(({ type, value }) => [type, value] as const);
  const { year = "", month = "", day = "" } = Object.fromEntries(parts) as Record<string, string>;
  return `${year.padStart(4, "0")}-${month}-${day}`;
}
