import type { Command as Node, Option } from "commander";
import { rootOf } from "../help/usage-error.ts";

/** One thing that may stand at the cursor. */
interface Candidate {
  readonly value: string;
  readonly about: string;
}

/** What may be typed at the cursor; `files`: the shell completes names of files. */
export type Completion = readonly Candidate[] | "files";

/** Names that are not in the command tree, each read only when it is asked for. */
export interface NameSources {
  /** Values that an option takes; empty: any. */
  readonly valuesOf: (option: Option) => readonly string[];
  /** By what stands for a name in help: `<table>`, `[resource...]`; `company` for those of the config. */
  readonly named: (kind: string) => Promise<readonly string[]>;
}

/**
 * What may stand at the cursor, by the parser's own command tree.
 * @param words after the program's name; the last one is being typed, and may be empty
 */
export async function complete(
  root: Node,
  words: readonly string[],
  sources: NameSources,
): Promise<Completion> {
  const typed = words.at(-1) ?? "";
  const place = placeOf(root, words.slice(0, -1));
  const { node, awaiting, given, isOver } = place;
  if (awaiting) return valuesFor(awaiting, typed, sources);
  const [, flag, value] = /^(--[\w-]+)=(.*)$/s.exec(typed) ?? [];
  if (flag !== undefined && !isOver)
    return withPrefix(`${flag}=`, await ofFlag(node, flag, value ?? "", sources));
  if (typed.startsWith("-") && !isOver) return starting(typed, optionsAt(node, given));
  const operands = await operandsAt(place, typed, sources);
  if (operands === "files") return operands;
  return operands.length === 0 && typed === "" && !isOver ? optionsAt(node, given) : operands;
}

/** Where the cursor is in the tree. */
interface Place {
  readonly node: Node;
  /** The option whose value is being typed. */
  readonly awaiting: Option | null;
  /** Options that stand before the cursor. */
  readonly given: ReadonlySet<Option>;
  readonly operands: readonly string[];
  /** `--` came: no options follow. */
  readonly isOver: boolean;
}

function placeOf(root: Node, before: readonly string[]): Place {
  let place: Place = { node: root, awaiting: null, given: new Set(), operands: [], isOver: false };
  for (const word of before) place = { ...place, ...step(place, word) };
  return place;
}

function step({ node, awaiting, given, operands, isOver }: Place, word: string): Partial<Place> {
  if (awaiting) return { awaiting: null };
  if (word === "--") return { isOver: true };
  if (word.startsWith("-") && !isOver) {
    const option = optionNamed(node, word.replace(/=.*/s, ""));
    const waits = option !== undefined && isValued(option) && !word.includes("=");
    return { given: new Set([...given, ...(option ? [option] : [])]), awaiting: waits ? option : null };
  }
  // `help sync` is completed as `sync`.
  if (word === "help" && operands.length === 0) return {};
  const child = operands.length === 0 ? node.commands.find((one) => one.name() === word) : undefined;
  return child ? { node: child } : { operands: [...operands, word] };
}

function isValued(option: Option): boolean {
  return option.required || option.optional;
}

/** Options of a node and those of the program, which may stand anywhere. */
function optionsOfTree(node: Node): readonly Option[] {
  const root = rootOf(node);
  return root === node
    ? node.options
    : [...node.options, ...root.options.filter(({ long }) => long !== "--version")];
}

function optionNamed(node: Node, name: string): Option | undefined {
  return optionsOfTree(node).find(({ short, long }) => name === short || name === long);
}

function optionsAt(node: Node, given: ReadonlySet<Option>): Candidate[] {
  const open = optionsOfTree(node).filter((option) => !given.has(option) || option.parseArg !== undefined);
  const own = open.map(({ long, flags, description }) => ({ value: long ?? flags, about: description }));
  return [...own, { value: "--help", about: "print this help" }];
}

async function ofFlag(node: Node, flag: string, value: string, sources: NameSources): Promise<Completion> {
  const option = optionNamed(node, flag);
  return option && isValued(option) ? valuesFor(option, value, sources) : [];
}

/** Options for which help shows only `<name>`. */
const namesOf: Readonly<Record<string, string>> = { "--company": "company", "--connector": "connector" };

async function valuesFor(option: Option, typed: string, sources: NameSources): Promise<Completion> {
  const values = sources.valuesOf(option);
  if (values.length > 0) return starting(typed, plain(values));
  const kind = namesOf[option.long ?? ""] ?? /<[^>]+>/.exec(option.flags)?.[0] ?? "";
  if (/^<(?:file|folder|place)/.test(kind)) return "files";
  // Several, with commas between them: the last one is being typed.
  const head = /^.*,/s.exec(typed)?.[0] ?? "";
  const taken = head.split(",");
  const left = (await sources.named(kind)).filter((name) => !taken.includes(name));
  return withPrefix(head, starting(typed.slice(head.length), plain(left)));
}

async function operandsAt(
  { node, operands }: Place,
  typed: string,
  sources: NameSources,
): Promise<Completion> {
  const children = operands.length > 0 ? [] : node.commands;
  const commands = children.map((child) => ({
    value: child.name(),
    about: child.summary() || child.description(),
  }));
  const takes =
    node.registeredArguments[operands.length] ?? node.registeredArguments.findLast((one) => one.variadic);
  const names = takes
    ? (await sources.named(takes.variadic ? `[${takes.name()}...]` : `<${takes.name()}>`)).filter(
        (name) => !operands.includes(name),
      )
    : [];
  return starting(typed, [...commands, ...plain(names)]);
}

function plain(values: readonly string[]): Candidate[] {
  return values.map((value) => ({ value, about: "" }));
}

function starting(typed: string, candidates: readonly Candidate[]): Candidate[] {
  return candidates.filter(({ value }) => value.startsWith(typed));
}

function withPrefix(prefix: string, completion: Completion): Completion {
  if (completion === "files") return completion;
  return completion.map(({ value, about }) => ({ value: `${prefix}${value}`, about }));
}
