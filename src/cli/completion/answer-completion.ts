import { readFileSync } from "node:fs";
import type { Command as Node } from "commander";
import { MirrorError } from "../../base/errors.ts";
import { unknownName } from "../../base/names.ts";
import { complete } from "./complete.ts";
import { completionText, shells, shellScript } from "./shell-scripts.ts";
import type { ProcessEnvironment } from "../program/command.ts";

/** Prints the script of a shell; with words, as the script calls it, what may stand at the cursor. */
export async function answerCompletion(
  environment: ProcessEnvironment,
  [name = "", ...words]: readonly string[],
  tree: () => Node,
): Promise<string> {
  const shell = shells.find((one) => one === name);
  if (shell === undefined) throw new MirrorError("usage", unknownName("shell", name, shells));
  if (words.length === 0) return shellScript(shell);
  // bash gives `--format`, `=` and `csv` for `--format=csv`.
  const last = words.at(-1) === "=" ? [""] : [];
  const typed = shell === "bash" ? [...words.filter((word) => word !== "="), ...last] : words;
  const named = namesFrom(environment, typed);
  return completionText(shell, await complete(tree(), typed, async (of) => (await named[of]?.()) ?? []));
}

/** By the argument or option that takes them; each is read only when it is asked for. */
function namesFrom(environment: ProcessEnvironment, words: readonly string[]) {
  const { connectors } = environment;
  const chosen = async () => {
    const name = optionValue(words, "--connector") ?? (await readConfig(environment, words)).connector;
    return connectors.find((one) => one.name === name) ?? connectors[0];
  };
  const manifest = async () => (await (await chosen()).load()).manifest;
  const resources = async () => (await chosen()).resources.map(({ name }) => name);
  const companies = async () => Object.keys((await readConfig(environment, words)).companies ?? {});
  const named: Readonly<Record<string, () => Promise<readonly string[]>>> = {
    shell: async () => shells,
    company: companies,
    "--company": companies,
    "--connector": async () => connectors.map(({ name }) => name),
    resource: resources,
    "--resource": resources,
    table: async () => {
      const { tablesOfManifest } = await import("../../store/snapshot/snapshot-tables.ts");
      return tablesOfManifest(await manifest()).map((table) => table.name);
    },
    event: async () => (await manifest()).events.map(({ type }) => type),
  };
  return named;
}

/** The part of a config that completion uses, not checked. */
interface RawConfig {
  readonly connector?: unknown;
  readonly companies?: object;
}

/** The config that the words name, as it stands; an empty one where it cannot be read. */
async function readConfig({ env, cwd }: ProcessEnvironment, words: readonly string[]): Promise<RawConfig> {
  try {
    const { configPath, readYaml } = await import("../../config/yaml.ts");
    const named = optionValue(words, "--config") ?? optionValue(words, "-c");
    const file = configPath({ ...(named !== undefined && { path: named }), env, cwd });
    return (readYaml(readFileSync(file, "utf8")).value as RawConfig | undefined) ?? {};
  } catch {
    return {};
  }
}

function optionValue(words: readonly string[], name: string): string | undefined {
  const joined = words.findLast((word) => word.startsWith(`${name}=`));
  const index = words.lastIndexOf(name);
  return index < 0 ? joined?.slice(name.length + 1) : words[index + 1];
}
