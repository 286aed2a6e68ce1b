import type { Clock } from "./clock.ts";

/** Wakes one waiting loop. A notification while nobody waits is kept for the next wait. */
export class Notifier {
  #notified = false;
  #waiting: AbortController | null = null;

  notify(): void {
    this.#notified = true;
    this.#waiting?.abort();
  }

  /** Resolves at the next notification, at once if one is kept, and with `timeout` after `ms` at the latest. */
  async wait(timeout?: { readonly clock: Clock; readonly ms: number }): Promise<void> {
    if (!this.#notified) {
      this.#waiting = new AbortController();
      const { signal } = this.#waiting;
      await (timeout ? timeout.clock.sleep(timeout.ms, signal) : aborted(signal));
      this.#waiting = null;
    }
    this.#notified = false;
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
