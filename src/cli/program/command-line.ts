import { Command as Node, CommanderError, Option } from "commander";
import { MirrorError } from "../../base/errors.ts";
import type { Command, ParsedInput } from "./command.ts";
import { globalOptions, type Globals } from "./globals.ts";
import type { Given, OptionSpecs, OptionValues } from "./option-specs.ts";

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

/**
 * Parses the arguments. Pure.
 * @throws MirrorError `usage` for anything unknown, with what was most likely meant
 */
export function readCommandLine(
  argv: readonly string[],
  commands: readonly Command[],
  version: string,
): Request {
  const found: { readonly command: Command; readonly node: Node }[] = [];
  const printed: string[] = [];
  const root = newNode(new Node("fintoro-mirror"), printed)
    .description(
      "A local SQLite mirror of a company: complete, crash-proof and provably equal to the service.",
    )
    .version(version, "-V, --version", "print the version");
  addOptions(root, globalOptions);
  for (const command of commands) {
    const node = addCommand(root, command, printed);
    node.action(() => void found.push({ command, node }));
  }
  try {
    root.parse([...argv], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return { kind: "text", text: printed.join("").trimEnd() };
    throw usageError(error, commands);
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

function newNode(node: Node, printed: string[]): Node {
  return node
    .exitOverride()
    .helpCommand(false)
    .helpOption("-h, --help", "print this help")
    .configureHelp({ showGlobalOptions: true, visibleGlobalOptions })
    .configureOutput({
      writeOut: (text) => printed.push(text),
      writeErr: () => undefined,
      outputError: () => undefined,
    });
}

function addCommand(root: Node, command: Command, printed: string[]): Node {
  const words = command.name.split(" ");
  const last = words.at(-1) ?? "";
  const node = newNode(new Node(last), printed).description(command.summary);
  for (const argument of command.args ?? []) node.argument(argument.name, argument.doc);
  addOptions(node, command.options);
  groupOf(root, words.slice(0, -1), printed).addCommand(node);
  return node;
}

/** The parent of `connector check`, created with its first command. */
function groupOf(root: Node, words: readonly string[], printed: string[]): Node {
  return words.reduce((parent, word) => {
    const present = parent.commands.find((node) => node.name() === word);
    if (present) return present;
    const group = newNode(new Node(word), printed).description(groupSummary(word));
    parent.addCommand(group);
    return group;
  }, root);
}

function groupSummary(word: string): string {
  return word.endsWith("s") ? `commands about ${word}` : `commands about a ${word}`;
}

function addOptions(node: Node, specs: OptionSpecs): void {
  for (const spec of Object.values(specs)) {
    const option = new Option(spec.flags, spec.doc);
    if (spec.repeats) option.argParser((text, before?: readonly string[]) => [...(before ?? []), text]);
    node.addOption(option);
  }
}

/** Help of a command shows the root's options besides its own, but not those of a parent command. */
function visibleGlobalOptions(node: Node): Option[] {
  let root = node;
  while (root.parent) root = root.parent;
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
  if (foreign)
    throw new MirrorError("usage", `unknown option '${foreign.long ?? foreign.flags}' of '${node.name()}'`);
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

function usageError(error: CommanderError, commands: readonly Command[]): MirrorError {
  const hint = "`fintoro-mirror --help` lists every command, `fintoro-mirror COMMAND --help` its options";
  if (error.code === "commander.help") {
    const names = commands.map((command) => command.name).join(", ");
    return new MirrorError("usage", `which command? There are ${names}`, { hint });
  }
  const parent = /^error: too many arguments for '(\w+)'/.exec(error.message)?.[1] ?? "";
  const children = commands.filter(({ name }) => name.startsWith(`${parent} `)).map(({ name }) => name);
  if (children.length > 0)
    return new MirrorError("usage", `which command? Below "${parent}" there are ${children.join(", ")}`, {
      hint,
    });
  const message = error.message
    .replace(/^error: /, "")
    .replace(/\n\(Did you mean (.*)\?\)$/s, '; did you mean "$1"?');
  return new MirrorError("usage", message, { hint });
}
