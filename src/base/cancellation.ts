import { longestTimerMs } from "./clock.ts";
import { throwIfAborted } from "./errors.ts";
import { onceFor } from "./once-for.ts";

/** Lets timers and input of this thread run between two slices of long work; then as `throwIfAborted`. */
export async function yieldToLoop(signal: AbortSignal | undefined, message: string): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
  throwIfAborted(signal, message);
}

/** Reason of an abort that is no failure. With a reason of its own, `abort` makes no error with a stack. */
export const ended = Symbol("ended");

export async function waitAtMost(ms: number, work: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, ms);
  await Promise.race([work, late.promise]).finally(() => clearTimeout(timer));
}

/** Aborts after this time: after 24 days at the latest, which is Node's longest timer. */
export function abortAfter(ms: number): AbortSignal {
  return AbortSignal.timeout(Math.min(Math.ceil(ms), longestTimerMs));
}

const combinedWith = onceFor((one: AbortSignal) =>
  onceFor((other: AbortSignal) => AbortSignal.any([one, other])),
);

/** A signal that aborts with either: one for each pair, however often it is asked for. */
export function eitherSignal(one: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  return !other || one === other ? one : combinedWith(one)(other);
}

/**
 * A signal that aborts with `signal`, or `graceMs` after `closed`: when a run's time is over, requests in flight may
 * finish, but not for longer than a request may take.
 *
 * @param over aborts when nobody needs it any more. A signal of a daemon lives for years, and keeps what listens to it.
 */
export function stopSignal(
  end: { readonly signal: AbortSignal; readonly closed: AbortSignal; readonly graceMs: number },
  over?: AbortSignal,
): AbortSignal {
  const { signal, closed, graceMs } = end;
  const late = new AbortController();
  const start = () => void setTimeout(() => late.abort(), graceMs).unref();
  if (closed.aborted) start();
  else closed.addEventListener("abort", start, { once: true });
  // Not by a listener's own `signal`: Node forgets that one when another is added so, and memory is collected.
  over?.addEventListener("abort", () => closed.removeEventListener("abort", start));
  return AbortSignal.any([signal, late.signal]);
}
