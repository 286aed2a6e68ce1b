import { signalCodes, type StopSignal } from "./exit-code.ts";

/** As much of `process` as is used. */
export interface SignalSource {
  on(event: StopSignal | "SIGHUP", listener: () => void): unknown;
  off(event: StopSignal | "SIGHUP", listener: () => void): unknown;
}

export type StopSignalNotice = (signal: StopSignal) => void;

/** The one place that hears SIGINT and SIGTERM. */
export interface Interruption {
  readonly signal: AbortSignal;
  /** The first one heard. */
  readonly heard: StopSignal | null;
  dispose(): void;
}

/**
 * The first signal asks to stop at the next safe point; the second one ends at once, which is safe, too:
 * whatever was not committed never happened.
 */
export function listenForSignals(
  source: SignalSource,
  tell: StopSignalNotice,
  endNow: (code: number) => void,
): Interruption {
  const controller = new AbortController();
  let heard: StopSignal | null = null;
  const listenerFor = (name: StopSignal) => () => {
    if (heard) {
      endNow(signalCodes[name]);
      return;
    }
    heard = name;
    tell(name);
    controller.abort();
  };
  const listeners = { SIGINT: listenerFor("SIGINT"), SIGTERM: listenerFor("SIGTERM") };
  source.on("SIGINT", listeners.SIGINT);
  source.on("SIGTERM", listeners.SIGTERM);
  return {
    signal: controller.signal,
    get heard() {
      return heard;
    },
    dispose() {
      source.off("SIGINT", listeners.SIGINT);
      source.off("SIGTERM", listeners.SIGTERM);
    },
  };
}

/** For who has something to read again; for everybody else SIGHUP ends the process. Gives what ends listening. */
export function onHangup(source: SignalSource, listener: () => void): () => void {
  source.on("SIGHUP", listener);
  return () => void source.off("SIGHUP", listener);
}
