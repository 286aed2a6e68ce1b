import { signalCodes, type StopSignal } from "./exit-code.ts";

/** The part of `process` that is used. */
export interface SignalSource {
  on(event: StopSignal | "SIGHUP", listener: () => void): unknown;
  off(event: StopSignal | "SIGHUP", listener: () => void): unknown;
}

/** What signals lead to. */
export interface SignalOptions {
  readonly onFirst: (signal: StopSignal) => void;
  readonly endNow: (code: number) => void;
  /** Ctrl-C is meant for the pager then: it would be left behind on the terminal. */
  readonly isPaging: () => boolean;
}

/**
 * The only listener of SIGINT and SIGTERM. The first one aborts `signal`: stop at the next safe point. The second
 * one ends the process at once with `endNow`. That is safe: uncommitted work is rolled back.
 */
export function listenForSignals(source: SignalSource, { onFirst, endNow, isPaging }: SignalOptions) {
  const controller = new AbortController();
  let first: StopSignal | null = null;
  const onSignal = (name: StopSignal) => {
    if (first) return endNow(signalCodes[name]);
    first = name;
    onFirst(name);
    controller.abort();
  };
  const onInterrupt = () => {
    if (!isPaging()) onSignal("SIGINT");
  };
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
