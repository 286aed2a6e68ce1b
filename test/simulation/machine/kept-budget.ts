import type { Clock } from "../../../src/base/clock.ts";
import { decodeState, encodeState, type Clocks } from "../../../src/rate-limit/budget-file.ts";
import type { RateLimitState, RateLimitStore } from "../../../src/rate-limit/state.ts";

/** The budget as its file keeps it from one process to the next, without the cost of the file. */
export class KeptBudget {
  private written: { readonly state: RateLimitState; readonly origin: Clocks } | null = null;

  /** What a process that has died still unwinds is not kept. */
  open(
    { clock, isAlive }: { readonly clock: Clock; readonly isAlive: () => boolean },
    bootId: string,
  ): RateLimitStore {
    const here = (): Clocks => ({ bootId, monotonicMs: clock.monotonicMs(), wallMs: clock.nowMs() });
    const { written } = this;
    let state = written && decodeState(encodeState(written.state, written.origin), here());
    return {
      shared: false,
      transact: (step) => {
        const done = step(state);
        state = done.state;
        if (isAlive()) this.written = { state, origin: here() };
        return done.result;
      },
      read: () => state,
      close: () => undefined,
    };
  }
}
