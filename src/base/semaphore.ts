import { MirrorError } from "./errors.ts";
import { laneRank, type Lane } from "./lane.ts";

/** So many exchanges at once, head and body; who waits is served by lane, then first come, first served. */
export interface Semaphore {
  /** Resolves with the function that gives the slot back. Rejects when `signal` aborts. */
  take(lane: Lane, signal: AbortSignal | undefined): Promise<() => void>;
}

interface Waiter {
  readonly lane: Lane;
  readonly serve: () => void;
}

export function createSemaphore(count: number): Semaphore {
  const waiting: Waiter[] = [];
  let free = count;
  const giveBack = () => {
    const next = waiting.shift();
    if (next) next.serve();
    else free++;
  };
  return {
    take: (lane, signal) =>
      new Promise((resolve, reject) => {
        const stop = () => {
          const at = waiting.indexOf(waiter);
          if (at >= 0) waiting.splice(at, 1);
          reject(new MirrorError("stopped", "stopped while waiting for a free connection"));
        };
        const waiter: Waiter = {
          lane,
          serve: () => {
            signal?.removeEventListener("abort", stop);
            resolve(giveBack);
          },
        };
        if (signal?.aborted) return stop();
        if (free > 0) {
          free--;
          return resolve(giveBack);
        }
        signal?.addEventListener("abort", stop, { once: true });
        const behind = waiting.findIndex((other) => laneRank(other.lane) > laneRank(lane));
        waiting.splice(behind < 0 ? waiting.length : behind, 0, waiter);
      }),
  };
}
