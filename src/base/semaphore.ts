/** Callers that wait for a value: lower `priority` first, then first come, first served. */
export class WaitQueue<T> {
  readonly #waiting: (PromiseWithResolvers<T | null> & { readonly priority: number })[] = [];

  get size(): number {
    return this.#waiting.length;
  }

  get nextPriority(): number | null {
    return this.#waiting[0]?.priority ?? null;
  }

  /** Resolves with the served value, or with null as soon as `signal` aborts. */
  wait(priority: number, signal?: AbortSignal): Promise<T | null> {
    if (signal?.aborted) return Promise.resolve(null);
    const waiter = { ...Promise.withResolvers<T | null>(), priority };
    const leave = () => {
      const at = this.#waiting.indexOf(waiter);
      if (at >= 0) this.#waiting.splice(at, 1);
      waiter.resolve(null);
    };
    signal?.addEventListener("abort", leave, { once: true });
    const behind = this.#waiting.findIndex((other) => other.priority > priority);
    this.#waiting.splice(behind < 0 ? this.#waiting.length : behind, 0, waiter);
    return waiter.promise.finally(() => signal?.removeEventListener("abort", leave));
  }

  /** Serves the first caller. False when nobody waits. */
  serve(value: T): boolean {
    const first = this.#waiting.shift();
    first?.resolve(value);
    return first !== undefined;
  }

  serveAll(value: T): void {
    for (const waiter of this.#waiting.splice(0)) waiter.resolve(value);
  }

  rejectAll(error: unknown): void {
    for (const waiter of this.#waiting.splice(0)) waiter.reject(error);
  }
}

/** Gives a place back; a second call does nothing. `using` calls it. */
type Release = (() => void) & Disposable;

/** At most `count` holders at once. */
export class Semaphore {
  readonly #queue = new WaitQueue<Release>();
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves with the function that gives the place back, or with null as soon as `signal` aborts. */
  acquire(signal?: AbortSignal, priority = 0): Promise<Release | null> {
    if (this.#free === 0 || signal?.aborted) return this.#queue.wait(priority, signal);
    this.#free--;
    return Promise.resolve(this.#createRelease());
  }

  #createRelease(): Release {
    let held = true;
    const release = () => {
      if (!held) return;
      held = false;
      if (!this.#queue.serve(this.#createRelease())) this.#free++;
    };
    return Object.assign(release, { [Symbol.dispose]: release });
  }
}

/**
 * Does `work` for each, so many at once. After one that fails none is begun, and what is under way ends first: then it
 * rejects as the first did.
 */
export async function forEachAtOnce<T>(
  most: number,
  all: readonly T[],
  work: (one: T) => Promise<void>,
): Promise<void> {
  const left = all.values();
  const failures: unknown[] = [];
  const workOn = async () => {
    for (const one of left) {
      if (failures.length > 0) return;
      await work(one).catch((error: unknown) => failures.push(error));
    }
  };
  await Promise.all(Array.from({ length: most }, workOn));
  if (failures.length > 0) throw failures[0];
}
