import { readFileSync } from "node:fs";
import type { Command as Node, Option } from "commander";
import { MirrorError } from "../../base/errors.ts";
import { unknownName } from "../../base/names.ts";
import type { ProcessEnvironment } from "./command.ts";
import { commandTree } from "./command-line.ts";

/**
 * Prints the script of a shell, which asks the program itself at every completion, so that it never lags behind, and takes
 * files without an answer. With words, as the script calls it: prints what may stand at the cursor.
 */
export async function answerCompletion(
  environment: ProcessEnvironment,
  [name = "", ...words]: readonly string[],
): Promise<string> {
  const shell = shells.find((one) => one === name);
  if (shell === undefined) throw new MirrorError("usage", unknownName("shell", name, shells));
  if (words.length === 0)
    return readFileSync(new URL(`./assets/completion.${shell}`, import.meta.url), "utf8").trimEnd();
  // bash gives `--format`, `=` and `csv` for `--format=csv`.
  const last = words.at(-1) === "=" ? [""] : [];
  const typed = shell === "bash" ? [...words.filter((word) => word !== "="), ...last] : words;
  const found = await complete(environment, typed);
  return found.flatMap((one) => (plainWord.test(one[0]) ? [lineFor[shell](...one)] : [])).join("\n");
}

/** Names that are not in the command tree, by the argument or option that takes them; read only when they are asked for. */
function namesFrom(
  { connectors, env, cwd }: ProcessEnvironment,
  given: Readonly<Record<string, string>>,
): Readonly<Record<string, () => Promise<readonly string[]>>> {
  /** The config that the words name, as it stands, not checked; an empty one where it cannot be read. */
  const config = async (): Promise<{ readonly connector?: unknown; readonly companies?: object }> => {
    try {
      const { configPath, readYaml } = await import("../../config/yaml.ts");
      const file = configPath(given["--config"], env, cwd);
      return (readYaml(readFileSync(file, "utf8")).value as object | undefined) ?? {};
    } catch {
      return {};
    }
  };
  const chosen = async () => {
    const name = given["--connector"] ?? (await config()).connector;
    return connectors.find((one) => one.name === name) ?? connectors[0];
  };
  const declaration = async () => (await (await chosen()).load()).declaration;
  const resources = async () => (await chosen()).resources.map(({ name }) => name);
  const companies = async () => Object.keys((await config()).companies ?? {});
  return {
    shell: async () => shells,
    company: companies,
    "--company": companies,
    "--connector": async () => connectors.map(({ name }) => name),
    resource: resources,
    "--resource": resources,
    table: async () => {
      const { tablesOfConnector } = await import("../../store/snapshot/snapshot-tables.ts");
      return tablesOfConnector(await declaration()).map((table) => table.name);
    },
    event: async () => (await declaration()).events.map(({ type }) => type),
  };
}

/** What may stand at the cursor, where the last of these words is being typed; empty: the shell completes names of files. */
async function complete(environment: ProcessEnvironment, words: readonly string[]): Promise<Candidate[]> {
  // `--format=c` is two words, and the first one stays as it is.
  const apart = words.flatMap((word) => /^(--[\w-]+)=(.*)$/s.exec(word)?.slice(1) ?? [word]);
  const typed = apart.at(-1) ?? "";
  const last = words.at(-1) ?? "";
  const root = commandTree(environment.commands, environment.version);
  const { node, awaiting, operands, given } = placeOf(root, apart.slice(0, -1));
  const names = namesFrom(environment, given);
  const namesOf = async (taker: string) => plain((await names[taker]?.()) ?? []);
  // Several values have commas between them: the last one is being typed.
  const head = awaiting ? (/^.*,/s.exec(typed)?.[0] ?? "") : "";
  const taken = awaiting ? head.split(",") : operands;
  const { argChoices, long: option = "" } = awaiting ?? {};
  const ofOption = argChoices ? plain(argChoices) : await namesOf(option);
  const all = awaiting ? ofOption : await operandsAt(node, operands, namesOf);
  const left = all.filter(([value]) => !taken.includes(value));
  const isOption = !awaiting && (typed.startsWith("-") || (typed === "" && left.length === 0));
  const flag = last.slice(0, last.length - typed.length);
  const options = optionsOf(root, node).map((one): Candidate => [one.long ?? one.flags, one.description]);
  const fits = (isOption ? options : left).filter(([value]) => `${head}${value}`.startsWith(typed));
  return fits.map(([value, about]) => [`${flag}${head}${value}`, about]);
}

/** Where the cursor is in the tree; `awaiting` is the option whose value is being typed. */
function placeOf(root: Node, before: readonly string[]) {
  let node = root;
  let awaiting: Option | undefined;
  const operands: string[] = [];
  const given: Record<string, string> = {};
  for (const word of before) {
    const child = operands.length === 0 && node.commands.find((one) => one.name() === word);
    if (awaiting) {
      given[awaiting.long ?? ""] = word;
      awaiting = undefined;
    } else if (word.startsWith("-"))
      awaiting = optionsOf(root, node).find((one) => one.required && [one.short, one.long].includes(word));
    else if (child) node = child;
    // `help sync` is completed as `sync`.
    else if (word !== "help") operands.push(word);
  }
  return { node, awaiting, operands, given };
}

/** Options of a node and those of the program, which may stand anywhere. */
function optionsOf(root: Node, node: Node): readonly Option[] {
  const ofProgram = root.options.filter(({ long }) => node !== root && long !== "--version");
  return [...root.createHelp().visibleOptions(node), ...ofProgram];
}

async function operandsAt(
  { commands, registeredArguments }: Node,
  operands: readonly string[],
  namesOf: (taker: string) => Promise<readonly Candidate[]>,
): Promise<readonly Candidate[]> {
  const takes = registeredArguments[operands.length] ?? registeredArguments.findLast((one) => one.variadic);
  if (takes) return namesOf(takes.name());
  return commands.map((child) => [child.name(), child.summary() || child.description()]);
}

function plain(values: readonly string[]): Candidate[] {
  return values.map((value) => [value, ""]);
}

type Candidate = readonly [value: string, about: string];

export const shells = ["bash", "zsh", "fish"] as const;
type Shell = (typeof shells)[number];

/** All others are not offered: bash puts what it completes on the line as it is, where `$(…)` would be run. */
const plainWord = /^[\w.,=-]+$/;

const lineFor: Readonly<Record<Shell, (value: string, about: string) => string>> = {
  bash: (value) => value,
  zsh: (value, about) => (about === "" ? value : `${value}:${about}`),
  // The script makes a tab of the first space.
  fish: (value, about) => `${value} ${about}`.trimEnd(),
};
