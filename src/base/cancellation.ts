import { MirrorError } from "./errors.ts";

/** Throws a MirrorError of kind `stopped` with this message when the signal has aborted. */
export function throwIfAborted(signal: AbortSignal | undefined, message: string): void {
  if (signal?.aborted) throw new MirrorError("stopped", message);
}

/** Lets timers and input of this thread run between two slices of long work; then as `throwIfAborted`. */
export async function yieldToLoop(signal: AbortSignal | undefined, message: string): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
  throwIfAborted(signal, message);
}

/** A signal made of others, which may outlive it. */
export interface LinkedSignal {
  readonly signal: AbortSignal;
  /** Removes its listeners from the others. */
  release(): void;
}

/** Aborts when any of the given signals does. Call `release` at the end, or long-lived signals collect listeners. */
export function linkSignals(...signals: readonly (AbortSignal | undefined)[]): LinkedSignal {
  const linked = new AbortController();
  const abort = () => linked.abort();
  const given = signals.filter((signal) => signal !== undefined);
  for (const signal of given) signal.addEventListener("abort", abort, { once: true });
  if (given.some((signal) => signal.aborted)) abort();
  return {
    signal: linked.signal,
    release: () => given.forEach((signal) => signal.removeEventListener("abort", abort)),
  };
}
