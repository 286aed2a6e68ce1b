import { MirrorError, valueOr } from "../../base/errors.ts";
import { assertKnown } from "../../base/names.ts";
import { secretTexts } from "../../config/companies.ts";
import { loadConfig, type LoadedConfig, type LoadOptions } from "../../config/load.ts";
import { withLine, withProgress } from "../../log/progress.ts";
import { levelOf, type Console } from "../console/console.ts";
import type { CommandRequest } from "./command-line.ts";
import type { CommandContext, ConnectorEntry, ProcessEnvironment } from "./command.ts";

/**
 * Reads the config if the command needs it, then loads the connectors: a refused config costs no more than
 * its check. `loaded` is the config, where the command asks for it before it is loaded.
 * @throws MirrorError `config`
 */
export async function openContext(
  environment: ProcessEnvironment,
  { command, globals, input }: CommandRequest,
  console: Console,
  stop: AbortSignal,
): Promise<{ readonly context: CommandContext; readonly loaded: LoadedConfig | null }> {
  const { screen, log, output, colour } = console;
  const { env, cwd, clock, connectors } = environment;
  const load = (secrets: LoadOptions["secrets"] = "required") =>
    loadConfig({ path: globals.config, env, cwd, connectors, secrets, forFleet: command.forFleet });
  const take = (one: LoadedConfig) => {
    console.redaction.add(secretTexts(one.config));
    if (levelOf(globals) === null) log.setLevel(one.config.log.level);
    for (const warning of one.warnings) log.warn(warning);
    return one;
  };
  const { config: needed = "when_used" } = command;
  const loaded = needed === "none" || needed === "own" ? null : take(load(needed));
  // A config that cannot be read is refused by the command itself, where it needs it.
  const configured = loaded ?? (needed === "own" ? valueOr(() => load("when_used"), null) : null);
  const { connector: named } = input.options as { readonly connector?: string };
  const connector = await connectorNamed(environment, named, configured).load();
  const { checkExports, checkRedaction } = await import("./check-redaction.ts");
  const checked = (one: LoadedConfig) => {
    const { name } = connector.declaration;
    if (one.config.connector !== name) {
      const hint = "Start the program again: a running one keeps its connector.";
      const place = one.placeOf(["connector"]);
      throw new MirrorError("config", `${place} names another connector than ${name} now`, { hint });
    }
    checkRedaction(one, connector.declaration, log);
    checkExports(one, connector.declaration);
    return one;
  };
  if (loaded) checked(loaded);
  const config = (secrets?: LoadOptions["secrets"]) => checked(take(load(secrets)));
  const signal = AbortSignal.any([stop, output.closed]);
  const context: CommandContext = {
    ...environment,
    globals,
    connector,
    output,
    print: async (document, lines) => {
      if (globals.json) return output.json(document);
      for (const line of lines) await output.line(line);
    },
    log,
    signal,
    config,
    onSecrets: (secrets) => console.redaction.add(secrets),
    prompts: environment.openPrompts?.(signal, colour),
    progress: (read, work) => withProgress({ screen, log, clock, colour }, read, work),
    showing: (work) => withLine({ screen, log, clock }, work),
  };
  return { context, loaded };
}

/** The one named by `--connector`, else the config's, else the first. Throws MirrorError `usage` for an unknown name. */
function connectorNamed(
  { connectors }: ProcessEnvironment,
  named: string | undefined,
  configured: LoadedConfig | null,
): ConnectorEntry {
  const names = connectors.map(({ name }) => name);
  const hint = `--connector takes one of ${names.join(", ")}`;
  assertKnown("connector", named === undefined ? [] : [named], names, hint);
  const chosen = named ?? configured?.config.connector;
  return connectors.find(({ name }) => name === chosen) ?? connectors[0];
}
