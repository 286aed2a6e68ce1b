import type { Lane } from "../base/lane.ts";

export interface BudgetHeaders {
  readonly limit: number | null;
  readonly remaining: number | null;
  /** `Retry-After`, seconds; 429 only. */
  readonly retryAfterS: number | null;
}

/** Leave to send one request. Exactly one of the two methods is called, once. */
export interface Permit {
  answered(status: number, headers: BudgetHeaders): void;
  /** No answer came: counts as spent. `mayArrive`: nobody waits for it any more, and the service may count it later. */
  lost(mayArrive?: boolean): void;
}

export interface BudgetView {
  readonly limit: number | null;
  /** Requests of a whole window for this program: without the reserve while other programs are seen. */
  readonly granted: number;
  /** Requests that may still be sent in this window, as far as known. */
  readonly remaining: number | null;
  /** Until the next permit can be given; 0 for now. */
  readonly waitMs: number;
  /** Absent: the service has no monthly quota. */
  readonly month?: MonthView;
}

export interface MonthView {
  readonly month: string;
  /** By all processes of this company, and by other programs as far as the service states it. */
  readonly used: number;
  readonly limit: number;
  readonly kept: number;
  readonly left: number;
}

/** Requests that were sent in one minute, by all processes that share the budget. */
export interface SpentMinute {
  readonly at: string;
  readonly requests: number;
  readonly refused: number;
}

/** Decides when the next request may go. Every attempt asks it, retries too. */
export interface RateLimiter {
  /** Waits for a permit. Rejects with a MirrorError of kind `stopped` when `signal` aborts. */
  admit(lane: Lane, signal?: AbortSignal): Promise<Permit>;
  view(): BudgetView;
}
