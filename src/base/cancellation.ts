import { throwIfAborted } from "./errors.ts";

/** Lets timers and input of this thread run between two slices of long work; then as `throwIfAborted`. */
export async function yieldToLoop(signal: AbortSignal | undefined, message: string): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
  throwIfAborted(signal, message);
}

/** Reason of an abort that is no failure. With a reason of its own, `abort` makes no error with a stack. */
export const ended = Symbol("ended");

const combined = new WeakMap<AbortSignal, WeakMap<AbortSignal, AbortSignal>>();

/** A signal that aborts with either: one for each pair, however often it is asked for. */
export function eitherSignal(one: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  if (!other || one === other) return one;
  let byOther = combined.get(one);
  if (!byOther) combined.set(one, (byOther = new WeakMap()));
  let signal = byOther.get(other);
  if (!signal) byOther.set(other, (signal = AbortSignal.any([one, other])));
  return signal;
}
