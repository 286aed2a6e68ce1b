import { readFileSync } from "node:fs";
import type { Option } from "commander";
import { MirrorError } from "../../base/errors.ts";
import { unknownName } from "../../base/names.ts";
import { complete, type NameSources } from "./complete.ts";
import { completionText, joinedWords, shells, shellScript } from "./shell-scripts.ts";
import { commandTree } from "../program/command-line.ts";
import type { ProcessEnvironment } from "../program/command.ts";

/** Prints the script of a shell; with words, as the script calls it, what may stand at the cursor. */
export async function answerCompletion(
  environment: ProcessEnvironment,
  [name = "", ...words]: readonly string[],
): Promise<string> {
  const shell = shells.find((one) => one === name);
  if (shell === undefined) throw new MirrorError("usage", unknownName("shell", name, shells));
  if (words.length === 0) return shellScript(shell);
  const typed = joinedWords(shell, words);
  const root = commandTree(environment.commands, environment.version);
  return completionText(shell, await complete(root, typed, sourcesOf(environment, typed)));
}

function sourcesOf(environment: ProcessEnvironment, words: readonly string[]): NameSources {
  const [first] = environment.connectors;
  const resources = async () => first.resources.map(({ name }) => name);
  const named: Readonly<Record<string, () => Promise<readonly string[]>>> = {
    "<shell>": async () => shells,
    company: () => companiesOf(environment, words),
    "[resource...]": resources,
    // An option takes one of the service's lists, an argument also what is made of them.
    "<table>": resources,
    "[table...]": async () => {
      const { tablesOfManifest } = await import("../../store/snapshot/snapshot-tables.ts");
      return tablesOfManifest((await first.load()).manifest).map((table) => table.name);
    },
    "<event>": async () => (await first.load()).manifest.events.map(({ type }) => type),
  };
  return { valuesOf, named: async (kind) => (await named[kind]?.()) ?? [] };
}

function valuesOf(option: Option): readonly string[] {
  return "values" in option ? (option.values as string[]) : [];
}

/** Names of the companies in the config, without checking anything; none where it cannot be read. */
async function companiesOf({ env, cwd }: ProcessEnvironment, words: readonly string[]): Promise<string[]> {
  try {
    const { configPath, readYaml } = await import("../../config/yaml.ts");
    const named = namedConfig(words);
    const file = configPath({ ...(named !== undefined && { path: named }), env, cwd });
    const { value } = readYaml(readFileSync(file, "utf8"));
    return Object.keys((value as { readonly companies?: object } | undefined)?.companies ?? {});
  } catch {
    return [];
  }
}

function namedConfig(words: readonly string[]): string | undefined {
  const index = words.findLastIndex((word) => /^(?:-c|--config)$/.test(word));
  const joined = words.findLast((word) => word.startsWith("--config="));
  return index < 0 ? joined?.slice("--config=".length) : words[index + 1];
}
