import { readFileSync, statSync } from "node:fs";
import { nearestPresent } from "../../base/atomic-file.ts";
import { secretTexts } from "../../config/companies.ts";
import { loadConfig, type LoadedConfig, type LoadOptions } from "../../config/load.ts";
import { withLines, withProgress } from "../../log/progress.ts";
import { levelOf, type Console } from "../console/console.ts";
import { checkRedaction } from "./check-redaction.ts";
import type { Request } from "./command-line.ts";
import type { Globals } from "./globals.ts";
import type { CommandContext, ProcessEnvironment } from "./command.ts";

/**
 * Reads the config if the command needs it, then loads the connectors: a refused config costs no more than
 * its check. `loaded` is the config, where the command asks for it before it is loaded.
 * @throws MirrorError `config`
 */
export async function openContext(
  environment: ProcessEnvironment,
  { command, globals }: Request & { kind: "run" },
  console: Console,
  stop: AbortSignal,
): Promise<{ readonly context: CommandContext; readonly loaded: LoadedConfig | null }> {
  const { screen, log, output, colour } = console;
  const { env, cwd, version, clock, random, signals, openPrompts, readInput, exampleConfig } = environment;
  const unchecked = (secrets?: LoadOptions["secrets"]) => readConfig(environment, globals, console, secrets);
  const loaded = command.config === "none" ? null : unchecked(command.config ?? "when_used");
  const [first, ...others] = environment.connectors;
  const connectors = [await first.load(), ...(await Promise.all(others.map((one) => one.load())))] as const;
  const checked = (one: LoadedConfig) => {
    for (const { manifest } of connectors) checkRedaction(one, manifest, log);
    return one;
  };
  if (loaded) checked(loaded);
  const config = (secrets?: LoadOptions["secrets"]) => checked(unchecked(secrets));
  const signal = AbortSignal.any([stop, output.closed]);
  const values = { globals, connectors, env, cwd, version, output, log, clock, random, signal, config };
  const context: CommandContext = {
    ...values,
    readInput,
    exampleConfig,
    onHangup: (listener) => {
      signals.on("SIGHUP", listener);
      return () => void signals.off("SIGHUP", listener);
    },
    keepSecret: (secrets) => console.redaction.add(secrets),
    prompts: openPrompts?.(signal),
    progress: (read, work) => withProgress({ screen, log, clock, colour }, read, work),
    showing: (read, work) => withLines({ screen, log, clock }, read, work),
  };
  return { context, loaded };
}

const readFile = (file: string) => readFileSync(file, "utf8");

function fileAt(folder: string): string | null {
  const present = nearestPresent(folder);
  return statSync(present).isDirectory() ? null : present;
}

function readConfig(
  { env, cwd, connectors }: ProcessEnvironment,
  globals: Globals,
  { log, redaction }: Console,
  secrets: LoadOptions["secrets"] = "required",
): LoadedConfig {
  const path = globals.config === undefined ? {} : { path: globals.config };
  const loaded = loadConfig({ ...path, env, cwd, readFile, fileAt, connectors, secrets });
  redaction.add(secretTexts(loaded.config));
  if (levelOf(globals) === null) log.setLevel(loaded.config.log.level);
  for (const warning of loaded.warnings) log.warn(warning);
  return loaded;
}
