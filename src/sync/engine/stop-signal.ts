import type { Resource } from "../../connector/resource.ts";

/** What a run, or the event worker, reads, and what ends it. */
export interface WorkOptions {
  readonly resources: readonly Resource[];
  readonly concurrency: number;
  readonly signal: AbortSignal;
  /** Ends it when requests in flight are done. */
  readonly closed: AbortSignal;
  /** How long they may take after `closed`, ms. */
  readonly graceMs: number;
}

/**
 * A signal that aborts with `signal`, or `graceMs` after `closed`: when a run's time is over, requests in flight may
 * finish, but not for longer than a request may take.
 *
 * @param over aborts when nobody needs it any more. A signal of a daemon lives for years, and keeps what listens to it.
 */
export function stopSignal(
  { signal, closed, graceMs }: Pick<WorkOptions, "signal" | "closed" | "graceMs">,
  over?: AbortSignal,
): AbortSignal {
  const late = new AbortController();
  const start = () => void setTimeout(() => late.abort(), graceMs).unref();
  if (closed.aborted) start();
  else closed.addEventListener("abort", start, { once: true });
  // Not by a listener's own `signal`: Node forgets that one when another is added so, and memory is collected.
  over?.addEventListener("abort", () => closed.removeEventListener("abort", start));
  return AbortSignal.any([signal, late.signal]);
}
