import type { Clock } from "../../../src/base/clock.ts";

interface Sleeper {
  readonly untilMs: number;
  readonly order: number;
  /** Null once it is awake. */
  wake: (() => void) | null;
}

/**
 * A clock that jumps: when all are asleep, it is as late as the first of them wants to be woken. Between two jumps
 * the event loop turns a few times, so that work that yields to it is done first.
 */
export class VirtualClock implements Clock {
  private readonly startMs: number;
  private passedMs = 0;
  private order = 0;
  private jumping = false;
  private readonly heap: Sleeper[] = [];

  constructor(startMs: number) {
    this.startMs = startMs;
  }

  nowMs(): number {
    return Math.floor(this.startMs + this.passedMs);
  }

  monotonicMs(): number {
    return this.passedMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const sleeper: Sleeper = { untilMs: this.passedMs + Math.max(0, ms), order: this.order++, wake: null };
      const wake = () => {
        sleeper.wake = null;
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      sleeper.wake = wake;
      signal?.addEventListener("abort", wake);
      this.push(sleeper);
      this.jumpLater();
    });
  }

  /** Sleeps until this moment; at once when it is over. */
  async until(epochMs: number): Promise<void> {
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
    while (this.heap[0]?.wake === null) this.pop();
    const first = this.pop();
    if (!first) return;
    this.passedMs = Math.max(this.passedMs, first.untilMs);
    first.wake?.();
    while (this.heap[0]?.wake === null) this.pop();
    if (this.heap.length > 0) this.jumpLater();
  }

  private push(sleeper: Sleeper): void {
    const { heap } = this;
    let at = heap.length;
    for (let above = (at - 1) >> 1; at > 0 && isBefore(sleeper, heap[above]); above = (at - 1) >> 1) {
      heap[at] = heap[above] as Sleeper;
      at = above;
    }
    heap[at] = sleeper;
  }

  private pop(): Sleeper | undefined {
    const { heap } = this;
    const [first] = heap;
    const last = heap.pop();
    if (heap.length === 0 || !last) return first;
    let at = 0;
    for (let child = 1; child < heap.length; child = 2 * at + 1) {
      if (isBefore(heap[child + 1], heap[child])) child += 1;
      if (!isBefore(heap[child], last)) break;
      heap[at] = heap[child] as Sleeper;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

function isBefore(a: Sleeper | undefined, b: Sleeper | undefined): boolean {
  if (!a || !b) return a !== undefined;
  return a.untilMs < b.untilMs || (a.untilMs === b.untilMs && a.order < b.order);
}
