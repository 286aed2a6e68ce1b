import type { Random } from "../base/random.ts";
import { backoffMs } from "../base/retry.ts";
import type { Failure } from "./error-answer.ts";

/** When to try again: pure, so that it can be read and tested as a table. */
export interface RetryRules {
  /** Of one call, refusals by the limiter (429) not counted. */
  readonly attempts: number;
  /** 429 in a row before we give up; the rate limiter does the waiting. */
  readonly refusals: number;
  readonly baseMs: number;
  readonly maxMs: number;
  /** A longer `Retry-After` is not waited for. */
  readonly longestRetryAfterMs: number;
}

export interface Progress {
  /** Attempts that failed so far for another reason than 429. */
  readonly failed: number;
  /** 429 in a row, now. */
  readonly refused: number;
}

export type NextAttempt = { readonly retryInMs: number } | "give_up";

export function nextAttempt(
  failure: Failure,
  progress: Progress,
  repeatable: boolean,
  rules: RetryRules,
  random: Random,
): NextAttempt {
  if (isRateLimited(failure)) return progress.refused < rules.refusals ? { retryInMs: 0 } : "give_up";
  if (!failure.error.retryable || !repeatable || progress.failed >= rules.attempts) return "give_up";
  const asked = Math.min(failure.retryAfterMs ?? 0, rules.longestRetryAfterMs);
  return { retryInMs: Math.max(asked, backoffMs(progress.failed, { ...rules, random })) };
}

/** 429 was not let in: repeating it is safe for every method. */
export function isRateLimited(failure: Failure): boolean {
  return failure.error.kind === "rate_limited";
}
