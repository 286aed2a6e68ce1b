import type { RateLimitState } from "./state.ts";

/** Keeps the one state of a company's budget, for every part of every process that asks the service. */
export interface RateLimitStore {
  /** Other processes may change it behind our back. */
  readonly shared: boolean;
  /** Runs `step` alone: no other step between its reading and its writing. `null`: nothing known. */
  transact<T>(step: (state: RateLimitState | null) => Step<T>): T;
  read(): RateLimitState | null;
  close(): void;
}

export interface Step<T> {
  readonly state: RateLimitState;
  readonly result: T;
}

/** For one process, and for one run. */
export function createMemoryRateLimitStore(initial: RateLimitState | null = null): RateLimitStore {
  let state = initial;
  return {
    shared: false,
    transact(step) {
      const done = step(state);
      state = done.state;
      return done.result;
    },
    read: () => state,
    close: () => undefined,
  };
}
