/** A wake-up call; `wake` is null once it was made or cancelled. */
interface WakeUp {
  readonly atMs: number;
  readonly order: number;
  wake: (() => void) | null;
}

/** Cancels a wake-up; does nothing when it was made. */
export type Cancel = () => void;

/**
 * Time as a list of wake-ups: it jumps from one to the next while `until` drives it. Between two wake-ups the event loop
 * turns twice, so that work that yields to it is done first.
 */
export class SimulatedTime {
  readonly startMs: number;
  /** Milliseconds since the simulation began. */
  passedMs = 0;
  /** WakeUps that have rung. */
  steps = 0;
  private order = 0;
  private readonly heap: WakeUp[] = [];

  constructor(startMs: number) {
    this.startMs = startMs;
  }

  /** The true time of day, epoch ms. */
  nowMs(): number {
    return Math.floor(this.startMs + this.passedMs);
  }

  /** As `passedMs`: a clock that nobody sets. */
  monotonicMs(): number {
    return this.passedMs;
  }

  /** Calls back in so many milliseconds. */
  after(ms: number, wake: () => void): Cancel {
    return this.at(this.passedMs + Math.max(0, ms), wake);
  }

  /** Calls back when so many milliseconds have passed since the beginning. */
  at(atMs: number, wake: () => void): Cancel {
    const wakeUp: WakeUp = { atMs, order: this.order++, wake };
    push(this.heap, wakeUp);
    return () => {
      wakeUp.wake = null;
    };
  }

  /** Resolves in so many milliseconds, at once when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        cancel();
        signal?.removeEventListener("abort", end);
        resolve();
      };
      const cancel = this.after(ms, end);
      signal?.addEventListener("abort", end);
    });
  }

  /** Lets time pass until the task has ended. Throws when nothing would ever end it, or `mostSteps` do not. */
  async until<T>(task: Promise<T>, mostSteps: number): Promise<T> {
    const state = { ended: false };
    const end = () => {
      state.ended = true;
    };
    task.then(end, end);
    const lastStep = this.steps + mostSteps;
    for (;;) {
      await turn();
      if (state.ended) return task;
      if (this.steps > lastStep) throw new Error(`no end within ${mostSteps} steps`);
      if (this.ring()) continue;
      // Who has just died unwinds first.
      await turn();
      if (state.ended) return task;
      if (!this.ring()) throw new Error("stuck: everything waits, and nothing is going to happen");
    }
  }

  /** When the next call is made, in milliseconds since the beginning; `Infinity`: there is none. */
  nextMs(): number {
    while (this.heap[0]?.wake === null) pop(this.heap);
    return this.heap[0]?.atMs ?? Infinity;
  }

  /** How many calls are to be made. */
  get sleeping(): number {
    return this.heap.filter(({ wake }) => wake !== null).length;
  }

  /** Makes the next call. False: there is none. */
  ring(): boolean {
    const atMs = this.nextMs();
    const wakeUp = pop(this.heap);
    if (!wakeUp?.wake) return false;
    const { wake } = wakeUp;
    wakeUp.wake = null;
    this.passedMs = atMs;
    this.steps += 1;
    wake();
    return true;
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}

function isBefore(a: WakeUp | undefined, b: WakeUp | undefined): boolean {
  if (!a || !b) return a !== undefined;
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}

function push(heap: WakeUp[], wakeUp: WakeUp): void {
  let at = heap.length;
  for (let above = (at - 1) >> 1; at > 0 && isBefore(wakeUp, heap[above]); above = (at - 1) >> 1) {
    heap[at] = heap[above] as WakeUp;
    at = above;
  }
  heap[at] = wakeUp;
}

function pop(heap: WakeUp[]): WakeUp | undefined {
  const [first] = heap;
  const last = heap.pop();
  if (heap.length === 0 || !last) return first;
  let at = 0;
  for (let child = 1; child < heap.length; child = 2 * at + 1) {
    if (isBefore(heap[child + 1], heap[child])) child += 1;
    if (!isBefore(heap[child], last)) break;
    heap[at] = heap[child] as WakeUp;
    at = child;
  }
  heap[at] = last;
  return first;
}
