import type { Clock } from "../base/clock.ts";

const mostSamples = 9;
/** An answer that took longer says too little. */
const longestRoundTripMs = 5_000;
/** Samples that differ by more than this are not of the same clock: one was set, or the machine slept. */
const mostDifferenceMs = 5_000;
/** `Date` has whole seconds, rounded down. */
const halfSecondMs = 500;

/**
 * Measures by how much this machine's clock differs from the service's: the median of recent answers' `Date` headers,
 * each taken for the middle of its round trip. It remembers the service's clock relative to the one that is never
 * set: a clock that is set shows at once, without another request.
 */
export function createClockSkew(clock: Clock) {
  let samples: readonly number[] = [];
  const median = () => samples.toSorted((a, b) => a - b)[Math.floor(samples.length / 2)] ?? null;
  return {
    /** Takes over the `Date` header of an answer; the times of sending and receiving are monotonic. */
    sample(date: string | undefined, sentMs: number, receivedMs: number): void {
      const thereMs = Date.parse(date ?? "") + halfSecondMs;
      if (Number.isNaN(thereMs) || receivedMs - sentMs > longestRoundTripMs) return;
      const sample = thereMs - (sentMs + receivedMs) / 2;
      const isSame = Math.abs(sample - (median() ?? sample)) <= mostDifferenceMs;
      samples = [...(isSame ? samples : []), sample].slice(-mostSamples);
    },
    /** Milliseconds; above 0 where this clock is ahead. Null: not known. */
    skewMs(): number | null {
      const there = median();
      return there === null ? null : Math.round(clock.nowMs() - clock.monotonicMs() - there);
    },
  };
}

export type ClockSkew = ReturnType<typeof createClockSkew>;

export const skewWarnMs = 60_000;

export function skewText(skewMs: number): string {
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  return `${seconds} s ${skewMs > 0 ? "ahead of" : "behind"} the service`;
}
