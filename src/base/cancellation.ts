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
