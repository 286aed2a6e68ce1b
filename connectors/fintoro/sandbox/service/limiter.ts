import type { Clock } from "../../../../src/base/clock.ts";

/**
 * `fixed`: a window of exactly its length, opened by the first counted request; the rest of the budget is
 * reported as it is when the answer leaves. `whole_seconds`: windows end on whole seconds of the wall
 * clock, up to a second early. `hit_time`: as `fixed`, reported as it was when the request came.
 */
export type LimiterKind = "fixed" | "whole_seconds" | "hit_time";

export interface LimiterOptions {
  readonly kind: LimiterKind;
  readonly limit: number;
  readonly windowMs: number;
}

/** One company's budget, shared by all its tokens. A refused request is not counted. */
export class Limiter {
  readonly #clock: Clock;
  readonly #options: LimiterOptions;
  #used = 0;
  #endsAtMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, options: LimiterOptions) {
    this.#clock = clock;
    this.#options = options;
  }

  get limit(): number {
    return this.#options.limit;
  }

  /** Counts a request, if the budget allows it. The rate headers are as they are at the moment of the call. */
  count(): { readonly allowed: boolean; readonly headers: () => Record<string, string> } {
    const { limit, kind } = this.#options;
    this.#openWindow();
    if (this.#used >= limit) {
      // Whole seconds, rounded down: up to a second short, and 0 in a window's last second.
      const seconds = () => Math.max(0, Math.floor((this.#endsAtMs - this.#nowMs()) / 1000));
      return { allowed: false, headers: () => limitHeaders(limit, this.#clock.nowMs(), seconds()) };
    }
    this.#used++;
    const remaining = limit - this.#used;
    const headers = () => ({
      "X-RateLimit-Limit": String(limit),
      "X-RateLimit-Remaining": String(kind === "hit_time" ? remaining : this.#remaining()),
    });
    return { allowed: true, headers };
  }

  #nowMs(): number {
    return this.#options.kind === "whole_seconds" ? this.#clock.nowMs() : this.#clock.monotonicMs();
  }

  #openWindow(): void {
    const now = this.#nowMs();
    if (now < this.#endsAtMs) return;
    const start = this.#options.kind === "whole_seconds" ? Math.floor(now / 1000) * 1000 : now;
    this.#endsAtMs = start + this.#options.windowMs;
    this.#used = 0;
  }

  /** After a window's end the whole budget remains, also before a request opens the next one. */
  #remaining(): number {
    const { limit } = this.#options;
    return this.#nowMs() >= this.#endsAtMs ? limit : Math.max(0, limit - this.#used);
  }
}

/** The headers of a 429; `retryAfterS: null` omits `Retry-After`. */
export function limitHeaders(limit: number, nowMs: number, retryAfterS: number | null) {
  return {
    "X-RateLimit-Limit": String(limit),
    "X-RateLimit-Remaining": "0",
    ...(retryAfterS !== null && { "Retry-After": String(retryAfterS) }),
    "X-RateLimit-Reset": String(Math.floor(nowMs / 1000) + (retryAfterS ?? 1)),
  };
}
