import { readFileSync, statSync } from "node:fs";
import { nearestPresent } from "../../base/atomic-file.ts";
import { MirrorError } from "../../base/errors.ts";
import { didYouMean } from "../../base/names.ts";
import { secretTexts } from "../../config/companies.ts";
import { loadConfig, type LoadedConfig, type LoadOptions } from "../../config/load.ts";
import { readSecretFile } from "../../config/secrets.ts";
import { withLines, withProgress } from "../../log/progress.ts";
import { levelOf, type Console } from "../console/console.ts";
import { checkRedaction } from "./check-redaction.ts";
import type { Request } from "./command-line.ts";
import type { Globals } from "./globals.ts";
import type { CommandContext, CommandSpec, ConnectorEntry, ProcessEnvironment } from "./command.ts";

/**
 * Reads the config if the command needs it, then loads the connectors: a refused config costs no more than
 * its check. `loaded` is the config, where the command asks for it before it is loaded.
 * @throws MirrorError `config`
 */
export async function openContext(
  environment: ProcessEnvironment,
  { command, globals, input }: Request & { kind: "run" },
  console: Console,
  stop: AbortSignal,
): Promise<{ readonly context: CommandContext; readonly loaded: LoadedConfig | null }> {
  const { screen, log, output, colour } = console;
  const { env, cwd, version, clock, random, signals, openPrompts, readInput, exampleConfig } = environment;
  const unchecked = (secrets?: LoadOptions["secrets"]) =>
    readConfig(environment, globals, console, { secrets, forFleet: command.forFleet ?? false });
  const loaded = command.config === "none" ? null : unchecked(command.config ?? "when_used");
  const connector = await chosenConnector(environment, globals, {
    loaded,
    command,
    options: input.options,
  }).load();
  const connectors = [connector] as const;
  const checked = (one: LoadedConfig) => {
    const { name } = connector.manifest;
    if (one.config.connector !== name)
      throw new MirrorError(
        "config",
        `${one.placeOf(["connector"])} names another connector than ${name} now`,
        {
          hint: "Start the program again: a running one keeps its connector.",
        },
      );
    checkRedaction(one, connector.manifest, log);
    return one;
  };
  if (loaded) checked(loaded);
  const config = (secrets?: LoadOptions["secrets"]) => checked(unchecked(secrets));
  const signal = AbortSignal.any([stop, output.closed]);
  const values = { globals, connectors, env, cwd, version, output, log, clock, random, signal, config };
  const context: CommandContext = {
    ...values,
    knownConnectors: environment.connectors,
    readInput,
    exampleConfig,
    onHangup: (listener) => {
      signals.on("SIGHUP", listener);
      return () => void signals.off("SIGHUP", listener);
    },
    keepSecret: (secrets) => console.redaction.add(secrets),
    prompts: openPrompts?.(signal, colour),
    progress: (read, work) => withProgress({ screen, log, clock, colour }, read, work),
    showing: (read, work) => withLines({ screen, log, clock }, read, work),
  };
  return { context, loaded };
}

interface ConnectorChoice {
  readonly loaded: LoadedConfig | null;
  readonly command: Pick<CommandSpec, "readsConfig">;
  readonly options: Readonly<Record<string, unknown>>;
}

/** The one named by `--connector`, else the config's, else the first. Throws MirrorError `usage` for an unknown name. */
function chosenConnector(
  { connectors, env, cwd }: ProcessEnvironment,
  globals: Globals,
  { loaded, command, options }: ConnectorChoice,
): ConnectorEntry {
  const named = (name: unknown) => connectors.find((one) => one.name === name);
  const { connector } = options;
  if (typeof connector === "string") {
    const names = connectors.map(({ name }) => name);
    const found = named(connector);
    if (found) return found;
    throw new MirrorError(
      "usage",
      `--connector must be one of ${names.join(", ")}${didYouMean(connector, names)}`,
    );
  }
  if (loaded) return named(loaded.config.connector) ?? connectors[0];
  if (!command.readsConfig) return connectors[0];
  try {
    const path = globals.config === undefined ? {} : { path: globals.config };
    const { config } = loadConfig({ ...path, env, cwd, ...readers, connectors, secrets: "when_used" });
    return named(config.connector) ?? connectors[0];
  } catch {
    // No config, or one that the command itself refuses where it needs it.
    return connectors[0];
  }
}

const readers = { readFile: (file: string) => readFileSync(file, "utf8"), readSecret: readSecretFile };

function fileAt(folder: string): string | null {
  const present = nearestPresent(folder);
  return statSync(present).isDirectory() ? null : present;
}

function readConfig(
  { env, cwd, connectors }: ProcessEnvironment,
  globals: Globals,
  { log, redaction }: Console,
  { secrets = "required", forFleet }: Pick<LoadOptions, "secrets" | "forFleet">,
): LoadedConfig {
  const path = globals.config === undefined ? {} : { path: globals.config };
  const loaded = loadConfig({ ...path, env, cwd, ...readers, fileAt, connectors, secrets, forFleet });
  redaction.add(secretTexts(loaded.config));
  if (levelOf(globals) === null) log.setLevel(loaded.config.log.level);
  for (const warning of loaded.warnings) log.warn(warning);
  return loaded;
}
