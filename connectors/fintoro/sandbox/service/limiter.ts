import type { Clock } from "../../../../src/base/clock.ts";

/**
 * `fixed`: a window of exactly its length, opened by the first counted request; what remains is told
 * when the answer leaves. `whole_seconds`: windows end on whole seconds of the wall clock, so they are
 * up to a second short. `hit_time`: as `fixed`, but what remains is told as it was when the request came.
 */
export type LimiterKind = "fixed" | "whole_seconds" | "hit_time";

export interface LimiterOptions {
  readonly kind: LimiterKind;
  readonly limit: number;
  readonly windowMs: number;
}

export interface Hit {
  readonly allowed: boolean;
  /** The headers, told at the moment of this call. */
  headers(): Record<string, string>;
}

/** One company's budget, shared by all its tokens. A refused request is not counted. */
export class Limiter {
  readonly #clock: Clock;
  #options: LimiterOptions;
  #used = 0;
  #endsAtMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, options: LimiterOptions) {
    this.#clock = clock;
    this.#options = options;
  }

  get limit(): number {
    return this.#options.limit;
  }

  /** From now on; a running window keeps its end. */
  change(options: Partial<LimiterOptions>): void {
    if (options.kind !== undefined && options.kind !== this.#options.kind)
      this.#endsAtMs = Number.NEGATIVE_INFINITY;
    this.#options = { ...this.#options, ...options };
  }

  hit(): Hit {
    const { limit, kind } = this.#options;
    this.#openIfOver();
    if (this.#used >= limit) return { allowed: false, headers: () => this.#refusal() };
    this.#used++;
    const remainingNow = limit - this.#used;
    const headers = () => ({
      "X-RateLimit-Limit": String(limit),
      "X-RateLimit-Remaining": String(kind === "hit_time" ? remainingNow : this.#remaining()),
    });
    return { allowed: true, headers };
  }

  #nowMs(): number {
    return this.#options.kind === "whole_seconds" ? this.#clock.nowMs() : this.#clock.monotonicMs();
  }

  #openIfOver(): void {
    const now = this.#nowMs();
    if (now < this.#endsAtMs) return;
    const start = this.#options.kind === "whole_seconds" ? Math.floor(now / 1000) * 1000 : now;
    this.#endsAtMs = start + this.#options.windowMs;
    this.#used = 0;
  }

  /** Between two windows the whole budget is there, though nobody has opened the next one. */
  #remaining(): number {
    return this.#nowMs() >= this.#endsAtMs
      ? this.#options.limit
      : Math.max(0, this.#options.limit - this.#used);
  }

  /** Whole seconds, rounded down: up to a second short, and 0 in a window's last second. */
  #refusal(): Record<string, string> {
    const seconds = Math.max(0, Math.floor((this.#endsAtMs - this.#nowMs()) / 1000));
    return {
      "X-RateLimit-Limit": String(this.#options.limit),
      "X-RateLimit-Remaining": "0",
      "Retry-After": String(seconds),
      "X-RateLimit-Reset": String(Math.floor(this.#clock.nowMs() / 1000) + seconds),
    };
  }
}
