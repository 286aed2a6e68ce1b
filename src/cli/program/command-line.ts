import { Command as Node, Help, Option, type CommanderError } from "commander";
import { MirrorError } from "../../base/errors.ts";
import type { Command, ParsedInput } from "./command.ts";
import { groupSummaries, helpHeadings } from "./command-table.ts";
import { globalOptions, type Globals, type OptionSpecs, type OptionValues } from "./option-specs.ts";

export interface CommandRequest {
  readonly command: Command;
  readonly input: ParsedInput;
  readonly globals: Globals;
}

const program = "fintoro-mirror";
/** Columns of help: as many as the terminal has, and never more. */
const widest = 80;

/** What stands on stdout instead of a run: help or the version. */
class Printed extends Error {}

/**
 * Parses the arguments: what is to run, or with `--help` and `--version` a text for stdout. Pure.
 * @param columns of the terminal that shows help
 * @throws MirrorError `usage` for anything unknown, with what was most likely meant
 */
export function readCommandLine(
  argv: readonly string[],
  commands: readonly Command[],
  version: string,
  columns = widest,
): CommandRequest | string {
  const found: { readonly command: Command; readonly node: Node }[] = [];
  const printed: string[] = [];
  const print = (text: string) => printed.push(text);
  const root = commandTree(commands, version, columns, print, (command, node) =>
    found.push({ command, node }),
  );
  try {
    root.parse([...argv], { from: "user" });
  } catch (error) {
    if (!(error instanceof Printed)) throw error;
    return printed.join("").trimEnd();
  }
  const [first] = found;
  if (!first) throw new Error("broken promise: commander ran a command or threw");
  const { command, node } = first;
  const input = { args: node.args, options: readOptions(command.options, node) as never };
  return { command, input, globals: readOptions(globalOptions, root) };
}

/** The parser's own tree of all commands: the one description that parsing, help and completion share. */
export function commandTree(
  commands: readonly Command[],
  version: string,
  columns = widest,
  print: (text: string) => unknown = () => undefined,
  run: (command: Command, node: Node) => unknown = () => undefined,
): Node {
  const [firstSteps = ""] = Object.values(helpHeadings);
  const help = new Node("help").argument("[command]").helpOption(false).helpGroup(firstSteps);
  const root: Node = refusingInOwnWords(new Node(program))
    .description(
      "A local SQLite mirror of a company: complete, crash-proof and provably equal to the service.",
    )
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .configureHelp({
      showGlobalOptions: true,
      // Not those of a parent command.
      visibleGlobalOptions: (one) => (one.parent ? [...root.options] : []),
      // In the list of commands: every one takes options.
      subcommandTerm: (one) => new Help().subcommandTerm(one).replace(" [options]", ""),
      minWidthToWrap: 12,
    })
    .configureOutput({
      writeOut: print,
      writeErr: () => undefined,
      getOutHelpWidth: () => Math.min(columns, widest),
    })
    .addHelpText("afterAll", ({ command }) => examplesText(commands, wordsOf(command)));
  addOptions(root, globalOptions);
  for (const command of commands) {
    const words = command.name.split(" ");
    const node = childOf(groupOf(root, words.slice(0, -1)), words.at(-1) ?? "")
      .description(command.summary)
      .summary(/^[^:;]*/.exec(command.summary)?.[0] ?? "")
      .action(() => void run(command, node));
    for (const argument of command.args ?? []) node.argument(argument.name, argument.doc);
    addOptions(node, command.options, command.conflicts);
  }
  let heading = "Commands:";
  for (const child of root.commands) {
    heading = helpHeadings[child.name()] ?? heading;
    child.helpGroup(heading);
  }
  return root.addHelpCommand(help.description("print the help of a command"));
}

function refusingInOwnWords(node: Node): Node {
  return node.helpCommand(false).exitOverride((error) => {
    throw error.exitCode === 0 ? new Printed() : usageError(node, error);
  });
}

/** Takes over how its parent shows help. */
function childOf(parent: Node, word: string): Node {
  return refusingInOwnWords(parent.command(word));
}

/** The parent of `connector check`, created with its first command. */
function groupOf(root: Node, words: readonly string[]): Node {
  return words.reduce((parent, word) => {
    const present = parent.commands.find((node) => node.name() === word);
    return present ?? childOf(parent, word).description(groupSummaries[word] ?? `commands about ${word}`);
  }, root);
}

function addOptions(node: Node, specs: OptionSpecs, conflicts: readonly (readonly string[])[] = []): void {
  for (const [name, { flags, doc, values, usual, parse, repeats }] of Object.entries(specs)) {
    const option = new Option(flags, doc);
    for (const [first, ...others] of conflicts) if (first === name) option.conflicts(others);
    if (values) option.choices(values).default(usual);
    if (parse) option.argParser((text, before) => parse(text, option.long ?? flags, before));
    if (repeats) option.argParser((text, before?: readonly string[]) => [...(before ?? []), text]);
    node.addOption(option);
  }
}

/** The parser gives an option that its group has as well to the group. */
function readOptions<S extends OptionSpecs>(specs: S, node: Node): OptionValues<S> {
  const group = node.parent?.parent ? node.parent : null;
  const taken = group?.options.filter((one) => group.getOptionValueSource(one.attributeName()) === "cli");
  const foreign = taken?.find(({ long }) => node.options.every((own) => own.long !== long));
  if (foreign) throw refusal(node, `unknown option '${foreign.long}'`);
  const given: Record<string, unknown> = { ...group?.opts(), ...node.opts() };
  const values = Object.entries(specs).map(([name, { flags, usual }]) => {
    return [name, given[new Option(flags).attributeName()] ?? usual];
  });
  return Object.fromEntries(values) as OptionValues<S>;
}

/** Words of the command line that lead to a node: `webhooks inbox`; empty for the program itself. */
export function wordsOf(node: Node): string[] {
  return node.parent ? [...wordsOf(node.parent), node.name()] : [];
}

/** What the parser found wrong at a node, in its own words. */
function usageError(node: Node, { code, message }: CommanderError): MirrorError {
  const below = node.commands.map((child) => wordsOf(child).join(" "));
  if (code === "commander.help") return refusal(node, `which command? There are ${below.join(", ")}`);
  if (code === "commander.excessArguments" && below.length > 0)
    return refusal(node, `unknown command '${node.args[0]}'. There are ${below.join(", ")}`);
  return refusal(node, message.replace(/^error: /, "").replace("\n", " "));
}

function refusal(node: Node, message: string): MirrorError {
  const hint = `\`${[program, ...wordsOf(node), "--help"].join(" ")}\` shows what there is`;
  return new MirrorError("usage", message, { hint });
}

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
  const lines = examplesOf(commands, words).flatMap(([args, does]) => [
    `  # ${does}`,
    `  ${program} ${args}`,
  ]);
  return lines.length === 0 ? "" : ["", "Examples:", ...lines].join("\n");
}
