import { MirrorError } from "../base/errors.ts";
import type { RateLimiter } from "./permit.ts";

export interface RequestLimits {
  /** Permits this gate lets through in all; retries count like anything else. */
  readonly mostRequests?: number;
  /** Closes the gate: who waits is turned away, what is in flight goes on. */
  readonly closed?: AbortSignal;
}

/** A rate limiter for a run with limits of its own: past them it gives no permit, kind `stopped`. */
export function limitRequests(rateLimiter: RateLimiter, options: RequestLimits): RateLimiter {
  let given = 0;
  return {
    view: () => rateLimiter.view(),
    admit: async (lane, signal) => {
      if (options.closed?.aborted || given >= (options.mostRequests ?? Infinity)) throw stopped();
      given += 1;
      const signals = [signal, options.closed].filter((one) => one !== undefined);
      try {
        return await rateLimiter.admit(lane, AbortSignal.any(signals));
      } catch (error) {
        given -= 1;
        throw error;
      }
    },
  };
}

function stopped(): MirrorError {
  return new MirrorError("stopped", "the limit given for this run is reached", {
    hint: "Run again to go on: everything committed is kept.",
  });
}
