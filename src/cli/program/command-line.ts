import { Command as Node, Option } from "commander";
import { unknownName } from "../../base/names.ts";
import { MirrorError } from "../../base/errors.ts";
import type { Command, ParsedInput } from "./command.ts";
import { groupSummaries, helpGroups } from "./command-table.ts";
import { globalOptions, type Globals } from "./option-specs.ts";
import type { Given, OptionSpecs, OptionValues } from "./option-specs.ts";
import { rootOf, usageError, wordsOf } from "./usage-error.ts";

/** What the command line asks for. */
export type Request =
  | {
      readonly kind: "run";
      readonly command: Command;
      readonly input: ParsedInput;
      readonly globals: Globals;
    }
  /** `--help` or `--version`: a text for stdout. */
  | { readonly kind: "text"; readonly text: string };

/** Columns of help: as many as the terminal has, and never more. */
const widest = 80;

/** What stands on stdout instead of a run: help or the version. */
class Printed extends Error {}

/**
 * Parses the arguments. Pure.
 * @param columns of the terminal that shows help
 * @throws MirrorError `usage` for anything unknown, with what was most likely meant
 */
export function readCommandLine(
  argv: readonly string[],
  commands: readonly Command[],
  version: string,
  columns = widest,
): Request {
  const found: { readonly command: Command; readonly node: Node }[] = [];
  const printed: string[] = [];
  const root = commandTree(commands, version, {
    columns,
    print: (text) => printed.push(text),
    run: (command, node) => found.push({ command, node }),
  });
  try {
    root.parse([...argv], { from: "user" });
  } catch (error) {
    if (!(error instanceof Printed)) throw error;
    return { kind: "text", text: printed.join("").trimEnd() };
  }
  const [first] = found;
  if (!first) throw new Error("broken promise: commander ran a command or threw");
  return {
    kind: "run",
    command: first.command,
    input: {
      args: first.node.args,
      options: readOptions(first.command.options, optionsOf(first.node)) as never,
    },
    globals: readOptions(globalOptions, root.opts()),
  };
}

/** What the parser does besides parsing. */
interface TreeOptions {
  readonly columns?: number;
  readonly print?: (text: string) => void;
  readonly run?: (command: Command, node: Node) => unknown;
}

/** The parser's own tree of all commands: the one description that parsing, help and completion share. */
export function commandTree(
  commands: readonly Command[],
  version: string,
  { columns = widest, print = () => undefined, run = () => undefined }: TreeOptions = {},
): Node {
  const newNode = (name: string) => parserNode(name, Math.min(columns, widest), print);
  const root = newNode("fintoro-mirror")
    .description(
      "A local SQLite mirror of a company: complete, crash-proof and provably equal to the service.",
    )
    .version(version, "-V, --version", "print the version")
    .addHelpCommand(helpNode())
    .addHelpText("afterAll", ({ command }) => examplesText(commands, wordsOf(command)));
  addOptions(root, globalOptions);
  for (const command of commands) {
    const node = addCommand(root, command, newNode);
    node.action(() => void run(command, node));
  }
  for (const child of root.commands) child.helpGroup(helpGroups.get(child.name()) ?? "Commands:");
  return root;
}

function parserNode(name: string, columns: number, print: (text: string) => void): Node {
  const node: Node = new Node(name);
  return node
    .exitOverride((error) => {
      throw error.exitCode === 0 ? new Printed() : usageError(node, error);
    })
    .helpCommand(false)
    .helpOption("-h, --help", "print this help")
    .configureHelp({ showGlobalOptions: true, visibleGlobalOptions, subcommandTerm, minWidthToWrap: 12 })
    .configureOutput({
      writeOut: print,
      writeErr: () => undefined,
      outputError: () => undefined,
      getOutHelpWidth: () => columns,
    });
}

type NewNode = (name: string) => Node;

/** Two command lines, and what they do: of a command, or of those below a group. */
export function examplesOf(commands: readonly Command[], words: readonly string[]): [string, string][] {
  const name = words.join(" ");
  const own = commands.find((one) => one.name === name);
  if (own) return examplesIn(own);
  const below = commands.filter((one) => one.name.startsWith(`${name} `));
  const [first = [], second = []] = below.map(examplesIn);
  return words.length === 0 ? rootExamples : [...first.slice(0, 1), ...second, ...first.slice(1)].slice(0, 2);
}

function examplesIn({ name, examples }: Command): [string, string][] {
  return Object.entries(examples).map(([args, does]) => [`${name} ${args}`.trim(), does]);
}

const rootExamples: [string, string][] = [
  ["init", "write a first config, then: check, sync"],
  ["sync --dry-run", "what a run would cost"],
];

function examplesText(commands: readonly Command[], words: readonly string[]): string {
  const shown = examplesOf(commands, words);
  const lines = shown.flatMap(([args, does]) => [`  # ${does}`, `  fintoro-mirror ${args}`]);
  return shown.length === 0 ? "" : ["", "Examples:", ...lines].join("\n");
}

function addCommand(root: Node, command: Command, newNode: NewNode): Node {
  const words = command.name.split(" ");
  const node = newNode(words.at(-1) ?? "");
  node.description(command.summary).summary(/^[^:;]*/.exec(command.summary)?.[0] ?? "");
  for (const argument of command.args ?? []) node.argument(argument.name, argument.doc);
  addOptions(node, command.options);
  groupOf(root, words.slice(0, -1), newNode).addCommand(node);
  return node;
}

/** The parent of `connector check`, created with its first command. */
function groupOf(root: Node, words: readonly string[], newNode: NewNode): Node {
  return words.reduce((parent, word) => {
    const present = parent.commands.find((node) => node.name() === word);
    if (present) return present;
    const group = newNode(word).description(groupSummaries[word] ?? `commands about ${word}`);
    parent.addCommand(group);
    return group;
  }, root);
}

function helpNode(): Node {
  const [firstSteps = ""] = helpGroups.values();
  return new Node("help")
    .argument("[command]")
    .helpOption(false)
    .description("print the help of a command")
    .helpGroup(firstSteps);
}

/** A command in the list of commands: every one takes options. */
function subcommandTerm(node: Node): string {
  const words = node.registeredArguments.map((one) => {
    const name = `${one.name()}${one.variadic ? "..." : ""}`;
    return one.required ? `<${name}>` : `[${name}]`;
  });
  return [node.name(), ...words].join(" ");
}

function addOptions(node: Node, specs: OptionSpecs): void {
  for (const spec of Object.values(specs)) {
    const option = Object.assign(new Option(spec.flags, spec.doc), { values: spec.values ?? [] });
    if (spec.repeats) option.argParser((text, before?: readonly string[]) => [...(before ?? []), text]);
    node.addOption(option);
  }
}

/** Help of a command shows the root's options besides its own, but not those of a parent command. */
function visibleGlobalOptions(node: Node): Option[] {
  const root = rootOf(node);
  return root === node ? [] : [...root.options];
}

/** The parser gives an option of the same name to the parent command: taken from there, or refused as unknown. */
function optionsOf(node: Node): Readonly<Record<string, Given>> {
  const { parent } = node;
  if (!parent?.parent) return node.opts();
  const taken = parent.options.filter(
    (option) => parent.getOptionValueSource(option.attributeName()) === "cli",
  );
  const own = new Set(node.options.map((option) => option.attributeName()));
  const foreign = taken.find((option) => !own.has(option.attributeName()));
  if (foreign) {
    const known = node.options.flatMap(({ long }) => long ?? []);
    const where = ` of ${wordsOf(node).join(" ")}`;
    throw new MirrorError("usage", unknownName("option", foreign.long ?? foreign.flags, known, where));
  }
  return { ...parent.opts(), ...node.opts() };
}

function readOptions<S extends OptionSpecs>(
  specs: S,
  given: Readonly<Record<string, Given>>,
): OptionValues<S> {
  const values = Object.entries(specs).map(([name, spec]) => {
    const value = given[new Option(spec.flags).attributeName()];
    return [name, spec.read(value)];
  });
  return Object.fromEntries(values) as OptionValues<S>;
}
