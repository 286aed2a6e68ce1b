/**
 * A signal that aborts with `now`, or `graceMs` after `closed`: when a run's time is over, requests in flight may
 * finish, but not for longer than a request may take.
 */
export function stopSignal(now: AbortSignal, closed: AbortSignal, graceMs: number): AbortSignal {
  const late = new AbortController();
  const start = () => void setTimeout(() => late.abort(), graceMs).unref();
  if (closed.aborted) start();
  else closed.addEventListener("abort", start, { once: true });
  return AbortSignal.any([now, late.signal]);
}
