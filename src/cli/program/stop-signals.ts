import { signalCodes, type StopSignal } from "./exit-code.ts";

/** The part of `process` that is used. */
export interface SignalSource {
  on(event: StopSignal | "SIGHUP", listener: () => void): unknown;
  off(event: StopSignal | "SIGHUP", listener: () => void): unknown;
}

/**
 * The only listener of SIGINT and SIGTERM. The first one aborts `signal`: stop at the next safe point. The second
 * one ends the process at once with `endNow`. That is safe: uncommitted work is rolled back.
 */
export function listenForSignals(
  source: SignalSource,
  onFirst: (signal: StopSignal) => void,
  endNow: (code: number) => void,
) {
  const controller = new AbortController();
  let first: StopSignal | null = null;
  const onSignal = (name: StopSignal) => {
    if (first) return endNow(signalCodes[name]);
    first = name;
    onFirst(name);
    controller.abort();
  };
  const onInterrupt = () => onSignal("SIGINT");
  const onTerminate = () => onSignal("SIGTERM");
  source.on("SIGINT", onInterrupt);
  source.on("SIGTERM", onTerminate);
  return {
    signal: controller.signal,
    received: () => first,
    dispose: () => {
      source.off("SIGINT", onInterrupt);
      source.off("SIGTERM", onTerminate);
    },
  };
}
