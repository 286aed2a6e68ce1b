import { signalCodes, type StopSignal } from "./exit-code.ts";

/** The part of `process` that is used. */
export interface SignalSource {
  on(event: StopSignal | "SIGHUP", listener: () => void): unknown;
  off(event: StopSignal | "SIGHUP", listener: () => void): unknown;
}

/** The only listener of SIGINT and SIGTERM. */
export interface Interruption {
  /** Aborts at the first signal. */
  readonly signal: AbortSignal;
  /** The first signal received. */
  readonly received: StopSignal | null;
  dispose(): void;
}

/**
 * Listens for SIGINT and SIGTERM. The first one asks to stop at the next safe point; the second one ends the
 * process at once with `endNow`. That is safe: uncommitted work is rolled back.
 */
export function listenForSignals(
  source: SignalSource,
  onFirst: (signal: StopSignal) => void,
  endNow: (code: number) => void,
): Interruption {
  const controller = new AbortController();
  let received: StopSignal | null = null;
  const listenerFor = (name: StopSignal) => () => {
    if (received) {
      endNow(signalCodes[name]);
      return;
    }
    received = name;
    onFirst(name);
    controller.abort();
  };
  const listeners = { SIGINT: listenerFor("SIGINT"), SIGTERM: listenerFor("SIGTERM") };
  source.on("SIGINT", listeners.SIGINT);
  source.on("SIGTERM", listeners.SIGTERM);
  return {
    signal: controller.signal,
    get received() {
      return received;
    },
    dispose() {
      source.off("SIGINT", listeners.SIGINT);
      source.off("SIGTERM", listeners.SIGTERM);
    },
  };
}
