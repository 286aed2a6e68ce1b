import type { GovernorState } from "./state.ts";

/** Keeps the one state of a company's budget, for every part of every process that asks the service. */
export interface GovernorStore {
  /** Other processes may change it behind our back. */
  readonly shared: boolean;
  /** Runs `step` alone: no other step between its reading and its writing. `null`: nothing known. */
  transact<T>(step: (state: GovernorState | null) => Step<T>): T;
  read(): GovernorState | null;
  close(): void;
}

export interface Step<T> {
  readonly state: GovernorState;
  readonly result: T;
}

/** For one process, and for one run. */
export function createMemoryStore(initial: GovernorState | null = null): GovernorStore {
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
