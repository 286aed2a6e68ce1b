import { readFileSync } from "node:fs";
import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import { secretTexts } from "../../config/companies.ts";
import { loadConfig, type LoadedConfig } from "../../config/load.ts";
import { withLines, withProgress } from "../../log/progress.ts";
import type { OutputStream } from "../../log/screen.ts";
import type { Command, CommandContext, Connector } from "./command.ts";
import type { Globals } from "./globals.ts";
import { onHangup, type SignalSource } from "./stop-signals.ts";
import type { DataStream } from "../console/output.ts";
import { flaggedLevel, type Console } from "../console/console.ts";

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
  /** A person can be asked, and gives a line. */
  readonly ask?: ((question: string, signal: AbortSignal) => Promise<string>) | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly version: string;
  readonly commands: readonly Command[];
  readonly connectors: readonly [Connector, ...Connector[]];
}

/** What a command gets of the world. */
export function createContext(
  world: ProcessEnvironment,
  globals: Globals,
  voice: Console,
  stop: AbortSignal,
): CommandContext {
  const { screen, log, output, colour } = voice;
  const { env, cwd, version, clock, random, connectors } = world;
  const [first, ...others] = connectors;
  const manifests = [first.manifest, ...others.map((connector) => connector.manifest)] as const;
  const path = globals.config === undefined ? {} : { path: globals.config };
  const signal = AbortSignal.any([stop, output.closed]);
  const { ask } = world;
  return {
    globals,
    connectors,
    env,
    cwd,
    version,
    output,
    log,
    clock,
    random,
    signal,
    onHangup: (listener) => onHangup(world.signals, listener),
    config: (secrets = "required") =>
      heeded(
        loadConfig({ ...path, env, cwd, readFile: readText, connectors: manifests, secrets }),
        globals,
        voice,
      ),
    keepSecret: (secrets) => voice.redaction.add(secrets),
    ask: ask && ((question) => ask(question, signal)),
    progress: (read, work) => withProgress({ screen, log, clock, colour }, read, work),
    showing: (read, work) => withLines({ screen, clock }, read, work),
  };
}

function readText(file: string): string {
  return readFileSync(file, "utf8");
}

function heeded(loaded: LoadedConfig, globals: Globals, { log, redaction }: Console): LoadedConfig {
  redaction.add(secretTexts(loaded.config));
  if (flaggedLevel(globals) === null) log.setLevel(loaded.config.log.level);
  for (const warning of loaded.warnings) log.warn(warning);
  return loaded;
}
