import type { Lane } from "../base/lane.ts";

/** What the headers of an answer said of the budget; absent headers are null. */
export interface BudgetHeaders {
  readonly limit: number | null;
  readonly remaining: number | null;
  /** `Retry-After`, seconds; 429 only. */
  readonly retryAfterS: number | null;
}

/** Leave to send one request. Exactly one of the two must be called, once. */
export interface Permit {
  /** The answer's head arrived. */
  answered(status: number, headers: BudgetHeaders): void;
  /** No answer came: counts as spent. */
  lost(): void;
}

/** What the progress line and `status` show of the budget. */
export interface BudgetView {
  readonly limit: number | null;
  /** What may still be sent in the window as far as known. */
  readonly remaining: number | null;
  /** Until the next permit can be given, 0 when one can be given now. */
  readonly waitMs: number;
}

/** The one place that says when the next request may go. Every attempt asks, retries too. */
export interface RateLimiter {
  /** Waits for leave. Rejects with a MirrorError of kind `stopped` when `signal` aborts. */
  admit(lane: Lane, signal?: AbortSignal): Promise<Permit>;
  view(): BudgetView;
}
