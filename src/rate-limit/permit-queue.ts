import { MirrorError } from "../base/errors.ts";
import { laneRank, type Lane } from "../base/lane.ts";

/** Those who wait for a permit: by lane, then first come, first served. */
export interface Waiters<T> {
  size(): number;
  first(): Lane | null;
  /** Resolves when served. Rejects at once when `signal` aborts, and with `refuse`'s error. */
  join(lane: Lane, signal: AbortSignal | undefined): Promise<T>;
  serveFirst(gift: T): void;
  refuse(error: unknown): void;
}

interface Waiter<T> {
  readonly lane: Lane;
  readonly serve: (gift: T) => void;
  readonly refuse: (error: unknown) => void;
}

export function createWaiters<T>(): Waiters<T> {
  const waiting: Waiter<T>[] = [];
  const leave = (waiter: Waiter<T>) => {
    const at = waiting.indexOf(waiter);
    if (at >= 0) waiting.splice(at, 1);
  };
  return {
    size: () => waiting.length,
    first: () => waiting[0]?.lane ?? null,
    join: (lane, signal) =>
      new Promise<T>((resolve, reject) => {
        if (signal?.aborted) return reject(stoppedWhileWaiting());
        const stop = () => {
          leave(waiter);
          reject(stoppedWhileWaiting());
        };
        const waiter: Waiter<T> = {
          lane,
          serve: (gift) => {
            signal?.removeEventListener("abort", stop);
            resolve(gift);
          },
          refuse: (error) => {
            signal?.removeEventListener("abort", stop);
            reject(error);
          },
        };
        signal?.addEventListener("abort", stop, { once: true });
        const behind = waiting.findIndex((other) => laneRank(other.lane) > laneRank(lane));
        waiting.splice(behind < 0 ? waiting.length : behind, 0, waiter);
      }),
    serveFirst: (gift) => waiting.shift()?.serve(gift),
    refuse: (error) => {
      for (const waiter of waiting.splice(0)) waiter.refuse(error);
    },
  };
}

function stoppedWhileWaiting(): MirrorError {
  return new MirrorError("stopped", "stopped while waiting for leave to send a request");
}
