/**
 * When a run's time is over what is in flight may finish, but not for longer than a request may take at
 * all: aborts with `now`, or `graceMs` after `closed`.
 */
export function stopSignal(now: AbortSignal, closed: AbortSignal, graceMs: number): AbortSignal {
  const late = new AbortController();
  const count = () => void setTimeout(() => late.abort(), graceMs).unref();
  if (closed.aborted) count();
  else closed.addEventListener("abort", count, { once: true });
  return AbortSignal.any([now, late.signal]);
}
