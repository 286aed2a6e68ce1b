import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import type { KnownConnector } from "../../config/config-schema.ts";
import type { LoadedConfig, LoadOptions } from "../../config/load.ts";
import type { ConnectorDeclaration } from "../../connector/connector-declaration.ts";
import type { AdjustableLog } from "../../log/log.ts";
import type { ProgressView, ShowLine } from "../../log/progress.ts";
import type { OutputStream } from "../../log/screen.ts";
import type { DataStream, Output } from "../console/output.ts";
import type { Prompts } from "../console/prompts.ts";
import type { CommandEnding, SignalSource } from "./exit-code.ts";
import type { CommandSpec, Globals, OptionValues } from "./option-specs.ts";
import type { sandboxCommands } from "./serving-commands.ts";

export interface ProcessEnvironment {
  readonly argv: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly stdout: DataStream;
  readonly stderr: OutputStream;
  readonly signals: SignalSource;
  readonly readInput: () => Promise<string>;
  readonly endNow: (code: number) => void;
  /** Opens questions to the person at the terminal, which the signal cancels; undefined without a terminal. */
  readonly openPrompts?: ((signal: AbortSignal, colour: boolean) => Prompts) | undefined;
  readonly exampleConfig: () => string;
  readonly clock: Clock;
  readonly random: Random;
  readonly version: string;
  readonly commands: readonly Command[];
  readonly connectors: readonly [ConnectorEntry, ...ConnectorEntry[]];
}

export interface CommandContext extends Pick<
  ProcessEnvironment,
  "env" | "cwd" | "version" | "clock" | "random" | "readInput" | "exampleConfig" | "connectors" | "signals"
> {
  readonly globals: Globals;
  /** The config's, or the one named by `--connector`; those of companies in Postgres may be others. */
  readonly connector: Connector;
  /** Data on stdout. Everything else goes to the log. */
  readonly output: Output;
  /** Prints the result of a command: as the one document with --json, otherwise as lines. */
  readonly print: (document: unknown, lines: readonly string[]) => Promise<void>;
  readonly log: AdjustableLog;
  /** Aborts on SIGINT and SIGTERM, and when stdout is closed: stop at the next safe point. */
  readonly signal: AbortSignal;
  /** Reads the config, logs its warnings, sets the log level, and redacts its secrets from then on. Throws `config`. */
  readonly config: (secrets?: LoadOptions["secrets"]) => LoadedConfig;
  /** Redacts these texts from every later line. */
  readonly onSecrets: (secrets: readonly string[]) => void;
  readonly prompts: Prompts | undefined;
  /** Does `work` while progress is drawn or logged. */
  readonly progress: <T>(read: () => readonly ProgressView[], work: () => Promise<T>) => Promise<T>;
  /** Does `work` while a terminal shows the line that it gave last. */
  readonly showing: <T>(work: (show: ShowLine) => Promise<T>) => Promise<T>;
}

/** A remote system whose code is not loaded yet; what is known of it suffices to check a config. */
export interface ConnectorEntry extends KnownConnector {
  readonly load: () => Promise<Connector>;
}

export interface Connector {
  readonly declaration: ConnectorDeclaration;
  startSandbox(request: SandboxRequest): Promise<RunningSandbox>;
}

/** Options of `sandbox`; for undefined it uses its own. */
export type SandboxRequest = Partial<
  Omit<OptionValues<(typeof sandboxCommands)["sandbox"]["options"]>, "connector"> & {
    /** Waits between attempts to deliver, as a multiple of the service's. */
    readonly retryScale: number;
  }
>;

export interface RunningSandbox {
  readonly url: string;
  readonly token: string;
  /** What a config needs besides the URL, by the keys of a company; absent: the token. */
  readonly access?: Readonly<Record<"account" | "client_id" | "client_secret", string>>;
  readonly companies: readonly {
    readonly name: string;
    readonly token: string;
    readonly readToken: string;
  }[];
  /** Secrets of the subscription to `webhookUrl`. */
  readonly webhookSecrets: readonly string[];
  requestCount(): number;
  /** Attempts so far to deliver events of the first company. */
  attempts(): readonly { readonly eventId: string; readonly outcome: string }[];
  /** Changes of an ordinary morning at the first company, ready to be made, for the demo. */
  changes(): readonly {
    make(): { readonly sentence: string; readonly table: string; readonly id: number };
  }[];
  [Symbol.asyncDispose](): Promise<void>;
}

/** The code of a command, called with what the command line and the config say. */
export type RunCommand<S extends CommandSpec> = (
  context: CommandContext,
  input: Pick<ParsedInput, "args"> & { readonly options: OptionValues<S["options"]> } & LoadedFor<S>,
) => Promise<CommandEnding>;

type LoadedFor<S> = S extends { readonly config: "none" | "own" } ? unknown : LoadedConfig;

export interface Command extends CommandSpec {
  /** Words of the command line: `connector check`. */
  readonly name: string;
  readonly load: () => Promise<(context: CommandContext, input: never) => Promise<CommandEnding>>;
}

/** Options of a type that only the command itself knows. */
export interface ParsedInput {
  readonly args: readonly string[];
  readonly options: never;
}
