import type { Clock } from "../base/clock.ts";

/** One attempt's time: ends it as a whole, however slowly the bytes drip, and when the caller stops. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Why the signal was aborted. */
  ended(): "deadline" | "stopped" | null;
  release(): void;
}

export function startDeadline(clock: Clock, timeoutMs: number, stop: AbortSignal): Deadline {
  const attempt = new AbortController();
  const timer = new AbortController();
  let ended: "deadline" | "stopped" | null = null;
  const end = (why: "deadline" | "stopped") => {
    ended ??= why;
    attempt.abort(new Error(why));
  };
  const onStop = () => end("stopped");
  if (stop.aborted) onStop();
  else stop.addEventListener("abort", onStop, { once: true });
  const watch = async () => {
    await clock.sleep(timeoutMs, timer.signal);
    if (!timer.signal.aborted) end("deadline");
  };
  void watch();
  return {
    signal: attempt.signal,
    ended: () => ended,
    release: () => {
      stop.removeEventListener("abort", onStop);
      timer.abort();
    },
  };
}
