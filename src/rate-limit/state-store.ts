import type { RateLimitState } from "./state.ts";

/** Holds the budget of one company. */
export interface RateLimitStore {
  /** Other processes change it too. */
  readonly shared: boolean;
  /** Runs `step` alone: no other step between its read and its write. `null`: nothing known. */
  transact<T>(step: (state: RateLimitState | null) => Step<T>): T;
  read(): RateLimitState | null;
  close(): void;
}

/** What a step stores, and what it returns. */
export interface Step<T> {
  readonly state: RateLimitState;
  readonly result: T;
}

/** A store for one process; it ends with it. */
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
