import { ended } from "./cancellation.ts";
import type { Clock } from "./clock.ts";

/** Wakes one waiting loop. A notification while nobody waits is kept for the next wait. */
export class Notifier {
  #notified = false;
  #wake: (() => void) | null = null;

  notify(): void {
    this.#notified = true;
    this.#wake?.();
  }

  /** Resolves at the next notification, at once if one is kept, and with `timeout` after `ms` at the latest. */
  async wait(timeout?: { readonly clock: Clock; readonly ms: number }): Promise<void> {
    if (!this.#notified) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = new AbortController();
      this.#wake = resolve;
      void timeout?.clock.sleep(timeout.ms, timer.signal).then(resolve);
      await promise;
      timer.abort(ended);
      this.#wake = null;
    }
    this.#notified = false;
  }
}
