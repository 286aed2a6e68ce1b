import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import type { OutputStream } from "../../log/screen.ts";
import type { DataStream } from "../console/output.ts";
import type { Command, ConnectorEntry } from "./command.ts";
import type { SignalSource } from "./stop-signals.ts";

/** The process as the command line sees it, passed in by the composition root. */
export interface ProcessEnvironment {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly stdout: DataStream;
  readonly stderr: OutputStream;
  readonly signals: SignalSource;
  /** Ends the process without waiting for anything. */
  readonly endNow: (code: number) => void;
  /** Asks the person at the terminal; undefined without a terminal. */
  readonly ask?: ((question: string, signal: AbortSignal) => Promise<string>) | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly version: string;
  readonly commands: readonly Command[];
  readonly connectors: readonly [ConnectorEntry, ...ConnectorEntry[]];
}
