import type { Random } from "./random.ts";

export interface Backoff {
  readonly baseMs: number;
  readonly maxMs: number;
  /** With it the upper half of each pause is random, so that clients do not return all at once. */
  readonly random?: Random;
}

/** Milliseconds to wait after `attempt` failed attempts (from 1): `baseMs`, doubled with each more, at most `maxMs`. */
export function backoffMs(attempt: number, { baseMs, maxMs, random }: Backoff): number {
  const fullMs = Math.min(maxMs, baseMs * 2 ** Math.max(0, attempt - 1));
  return random ? Math.round(fullMs / 2 + (fullMs / 2) * random.next()) : fullMs;
}
