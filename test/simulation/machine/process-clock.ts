import type { Clock } from "../../../src/base/clock.ts";
import type { SimulatedTime } from "../../support/virtual/simulated-time.ts";

/** The clocks of one process: with it they end, and nobody who sleeps on them is ever woken. */
export class ProcessClock implements Clock {
  private readonly time: SimulatedTime;
  private readonly machine: { readonly wallOffsetMs: number };
  private readonly bootedAtMs: number;
  private isDead = false;

  constructor(time: SimulatedTime, machine: { readonly wallOffsetMs: number; readonly bootedAtMs: number }) {
    this.time = time;
    this.machine = machine;
    this.bootedAtMs = machine.bootedAtMs;
  }

  nowMs(): number {
    return this.time.nowMs() + this.machine.wallOffsetMs;
  }

  monotonicMs(): number {
    return this.time.passedMs - this.bootedAtMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (this.isDead) return new Promise(() => undefined);
    return this.time.sleep(ms, signal).then(() => (this.isDead ? new Promise(() => undefined) : undefined));
  }

  stop(): void {
    this.isDead = true;
  }
}
