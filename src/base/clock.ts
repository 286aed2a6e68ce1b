/** Time, passed in. `monotonicMs` never goes back and is the only clock that decisions may lean on. */
export interface Clock {
  /** Wall clock, milliseconds since 1970. For people and for files, never for ordering. */
  nowMs(): number;
  /** Milliseconds since some fixed point; on Linux the same point for every process since boot. */
  monotonicMs(): number;
  /** Resolves after `ms`, or at once when `signal` aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

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

/** `2026-11-21T02:15:00.000Z` */
export function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
