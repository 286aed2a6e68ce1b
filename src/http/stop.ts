/** Aborts when any of the given signals does; `release` lets go of them, for they may outlive many calls. */
export interface Stop {
  readonly signal: AbortSignal;
  release(): void;
}

export function stopOn(...signals: readonly (AbortSignal | undefined)[]): Stop {
  const stop = new AbortController();
  const onAbort = () => stop.abort();
  const given = signals.filter((signal) => signal !== undefined);
  for (const signal of given) signal.addEventListener("abort", onAbort, { once: true });
  if (given.some((signal) => signal.aborted)) onAbort();
  return {
    signal: stop.signal,
    release: () => given.forEach((signal) => signal.removeEventListener("abort", onAbort)),
  };
}
