interface WakeUp {
  readonly atMs: number;
  readonly wake: () => void;
}

/** Cancels a wake-up; does nothing when it was made. */
export type Cancel = () => void;

/**
 * Time as a list of wake-ups: it jumps from one to the next while `until` drives it. Between two wake-ups the event loop
 * turns twice, so that work that yields to it is done first.
 */
export class SimulatedTime {
  readonly startMs: number;
  passedMs = 0;
  steps = 0;
  /** By their time, and those of one time in the order in which they were asked for. */
  private readonly agenda: WakeUp[] = [];

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

  after(ms: number, wake: () => void): Cancel {
    return this.at(this.passedMs + Math.max(0, ms), wake);
  }

  /** Calls back when so many milliseconds have passed since the beginning. */
  at(atMs: number, wake: () => void): Cancel {
    const wakeUp = { atMs, wake };
    this.agenda.splice(this.placeOf(atMs), 0, wakeUp);
    return () => {
      const index = this.agenda.indexOf(wakeUp);
      if (index >= 0) this.agenda.splice(index, 1);
    };
  }

  /** After all that are due by then, found by halves: thousands may wait. */
  private placeOf(atMs: number): number {
    let [from, to] = [0, this.agenda.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((this.agenda[middle]?.atMs ?? Infinity) <= atMs) from = middle + 1;
      else to = middle;
    }
    return from;
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
    return this.agenda[0]?.atMs ?? Infinity;
  }

  get sleeping(): number {
    return this.agenda.length;
  }

  /** Makes the next call. False: there is none. */
  ring(): boolean {
    const next = this.agenda.shift();
    if (!next) return false;
    this.passedMs = next.atMs;
    this.steps += 1;
    next.wake();
    return true;
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}
