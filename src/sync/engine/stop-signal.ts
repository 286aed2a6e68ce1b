/**
 * A signal that aborts with `now`, or `graceMs` after `closed`: when a run's time is over, requests in flight may
 * finish, but not for longer than a request may take.
 *
 * @param over aborts when nobody needs it any more. A signal of a daemon lives for years, and keeps what listens to it.
 */
export function stopSignal(
  now: AbortSignal,
  closed: AbortSignal,
  graceMs: number,
  over?: AbortSignal,
): AbortSignal {
  const late = new AbortController();
  const start = () => void setTimeout(() => late.abort(), graceMs).unref();
  if (closed.aborted) start();
  else closed.addEventListener("abort", start, { once: true });
  // Not by a listener's own `signal`: Node forgets that one when another is added so, and memory is collected.
  over?.addEventListener("abort", () => closed.removeEventListener("abort", start));
  return AbortSignal.any([now, late.signal]);
}
