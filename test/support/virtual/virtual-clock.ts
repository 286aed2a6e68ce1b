import type { Clock } from "../../../src/base/clock.ts";
import { SimulatedTime } from "./simulated-time.ts";

/**
 * A clock that jumps: when all are asleep, it is as late as the first of them wants to be woken. Between two jumps
 * the event loop turns a few times, so that work that yields to it is done first.
 */
export class VirtualClock extends SimulatedTime implements Clock {
  private jumping = false;

  override sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const slept = super.sleep(ms, signal);
    if (!signal?.aborted) this.jumpLater();
    return slept;
  }

  /** Sleeps until this moment; at once when it is over. */
  async reach(epochMs: number): Promise<void> {
    await this.sleep(epochMs - this.nowMs());
  }

  private jumpLater(): void {
    if (this.jumping) return;
    this.jumping = true;
    const turn = (left: number): void => void setImmediate(() => (left > 0 ? turn(left - 1) : this.jump()));
    turn(1);
  }

  private jump(): void {
    this.jumping = false;
    if (this.ring()) this.jumpLater();
  }
}
