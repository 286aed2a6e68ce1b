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

export type Limiter = ReturnType<typeof createLimiter>;

/** One company's budget, shared by all its tokens. A refused request is not counted. */
export function createLimiter(clock: Clock, { kind, limit, windowMs }: LimiterOptions) {
  let used = 0;
  let endsAtMs = Number.NEGATIVE_INFINITY;
  const nowMs = () => (kind === "whole_seconds" ? clock.nowMs() : clock.monotonicMs());
  /** After a window's end the whole budget remains, also before a request opens the next one. */
  const left = () => (nowMs() >= endsAtMs ? limit : Math.max(0, limit - used));
  /** Whole seconds, rounded down: up to a second short, and 0 in a window's last second. */
  const seconds = () => Math.max(0, Math.floor((endsAtMs - nowMs()) / 1000));
  /** Counts a request, if the budget allows it. The rate headers are as they are at the moment of the call. */
  const count = () => {
    const now = nowMs();
    if (now >= endsAtMs) {
      endsAtMs = (kind === "whole_seconds" ? Math.floor(now / 1000) * 1000 : now) + windowMs;
      used = 0;
    }
    const allowed = used < limit;
    if (allowed) used++;
    const remaining = limit - used;
    const headers = (): Record<string, string> => {
      if (!allowed) return limitHeaders(limit, clock.nowMs(), seconds());
      const shown = kind === "hit_time" ? remaining : left();
      return { "X-RateLimit-Limit": String(limit), "X-RateLimit-Remaining": String(shown) };
    };
    return { allowed, headers };
  };
  return { limit, count };
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
