import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import type { LoadedConfig, LoadOptions } from "../../config/load.ts";
import type { Manifest } from "../../connector/connector-manifest.ts";
import type { Transport } from "../../connector/transport.ts";
import type { AdjustableLog } from "../../log/log.ts";
import type { ProgressView } from "../../log/progress-view.ts";
import type { Ending } from "./exit-code.ts";
import type { Globals } from "./globals.ts";
import type { OptionSpecs, OptionValues } from "./command-options.ts";
import type { Output } from "../console/output.ts";

/** Everything a command may use of the world. */
export interface CommandContext {
  readonly globals: Globals;
  readonly connectors: readonly [Connector, ...Connector[]];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Of this program. */
  readonly version: string;
  /** Data. Everything else goes to the log. */
  readonly output: Output;
  readonly log: AdjustableLog;
  readonly clock: Clock;
  readonly random: Random;
  /** Aborts on SIGINT and SIGTERM: stop at the next safe point. */
  readonly signal: AbortSignal;
  /** Calls it at each SIGHUP, until the function it gives is called. */
  readonly onHangup: (listener: () => void) => () => void;
  /** Reads the config: warns, sets the log level, keeps its secrets out of every line from now on. */
  readonly config: (secrets?: LoadOptions["secrets"]) => LoadedConfig;
  /** From now on no line shows these; the config's own are known from its reading. */
  readonly keepSecret: (secrets: readonly string[]) => void;
  /** Asks the person at the terminal; absent where there is none. */
  readonly ask: ((question: string) => Promise<string>) | undefined;
  /** Does `work` while showing how it stands. */
  readonly progress: <T>(read: () => readonly ProgressView[], work: () => Promise<T>) => Promise<T>;
  /** Does `work` while a terminal shows these lines. */
  readonly showing: <T>(read: () => readonly string[], work: () => Promise<T>) => Promise<T>;
}

/** A remote system as the composition root knows it. */
export interface Connector {
  readonly manifest: Manifest;
  startSandbox(order: SandboxRequest): Promise<RunningSandbox>;
  /** What a morning does to a company, ready to be done, for the demo. */
  demoChanges(transport: Transport): Promise<readonly DemoChange[]>;
}

export interface DemoChange {
  /** Does it at the service: what to tell of it, and the record to look for in the mirror. */
  make(): Promise<{ readonly told: string; readonly table: string; readonly id: number }>;
}

/** What the `sandbox` command asks for; undefined leaves it to the sandbox. */
export interface SandboxRequest {
  readonly port: number;
  readonly seed: number | undefined;
  /** `small`, `medium` or a number. */
  readonly records: string | undefined;
  readonly limit: number | undefined;
  readonly windowMs: number | undefined;
  readonly limiter: string | undefined;
  readonly latencyMs: number | undefined;
  readonly faults: string | undefined;
  /** An active subscription to everything, from the start; with a secret of its own where none is given. */
  readonly webhookUrl?: string | undefined;
  readonly secret?: string | undefined;
  readonly webhookFaults?: string | undefined;
  /** Waits between attempts to deliver, as a multiple of the service's. */
  readonly retryScale?: number | undefined;
}

export interface RunningSandbox {
  readonly url: string;
  readonly token: string;
  readonly companies: readonly {
    readonly name: string;
    readonly token: string;
    readonly readToken: string;
  }[];
  /** Of the subscription asked for. */
  readonly webhookSecrets: readonly string[];
  /** Requests it has received so far. */
  requestCount(): number;
  /** To deliver events of the first company, so far. */
  attempts(): readonly { readonly eventId: string; readonly outcome: string }[];
  close(): Promise<void>;
}

export interface CommandSpec<S extends OptionSpecs> {
  /** Words of the command line: `connector check`. */
  readonly name: string;
  readonly summary: string;
  /** As help shows them: `[resource...]`. */
  readonly args?: readonly { readonly name: string; readonly doc: string }[];
  readonly options: S;
  readonly run: (
    context: CommandContext,
    input: { readonly args: readonly string[]; readonly options: OptionValues<S> },
  ) => Promise<Ending>;
}

/** A command whose option types are known only to itself. */
export interface Command extends Omit<CommandSpec<OptionSpecs>, "run"> {
  readonly run: (
    context: CommandContext,
    input: { readonly args: readonly string[]; readonly options: never },
  ) => Promise<Ending>;
}

export function command<const S extends OptionSpecs>(spec: CommandSpec<S>): Command {
  return spec;
}
