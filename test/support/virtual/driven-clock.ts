import type { Clock } from "../../../src/base/clock.ts";
import { SimulatedTime } from "./simulated-time.ts";

/** A clock that a test moves; sleepers wake when their time has come. */
export class DrivenClock extends SimulatedTime implements Clock {
  constructor(startMs = Date.UTC(2026, 10, 20, 9, 0, 0, 250)) {
    super(startMs);
  }

  /** Of a machine that runs for a while: 0 may mean never. */
  override monotonicMs(): number {
    return 1_000_000 + this.passedMs;
  }

  /** Moves time, and wakes all whose time has come before one of them goes on. */
  wind(ms: number): void {
    const untilMs = this.passedMs + ms;
    while (this.nextMs() <= untilMs) this.ring();
    this.passedMs = untilMs;
  }

  /** Moves time from one sleeper to the next; what each does without a wait is done before the next wakes. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.passedMs + ms;
    await runReady();
    while (this.nextMs() <= untilMs) {
      this.ring();
      await runReady();
    }
    this.passedMs = untilMs;
    await runReady();
  }
}

async function runReady(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}
