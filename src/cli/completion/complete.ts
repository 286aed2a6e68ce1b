import type { Command as Node, Option } from "commander";
import { rootOf } from "../program/usage-error.ts";

/** One thing that may stand at the cursor. */
export interface Candidate {
  readonly value: string;
  readonly about: string;
}

/** Names that are not in the command tree: of an argument (`table`) or an option (`--company`). */
type NamesOf = (of: string) => Promise<readonly string[]>;

/**
 * What may stand at the cursor, by the parser's own command tree; empty: the shell completes names of files.
 * @param words after the program's name; the last one is being typed, and may be empty
 */
export async function complete(
  root: Node,
  words: readonly string[],
  namesOf: NamesOf,
): Promise<readonly Candidate[]> {
  // `--format=c` is two words, and the first one stays as it is.
  const apart = words.flatMap((word) => /^(--[\w-]+)=(.*)$/s.exec(word)?.slice(1) ?? [word]);
  const typed = apart.at(-1) ?? "";
  const last = words.at(-1) ?? "";
  const flag = last.slice(0, last.length - typed.length);
  const { node, awaiting, operands } = placeOf(root, apart.slice(0, -1));
  // Several values have commas between them: the last one is being typed.
  const head = awaiting ? (/^.*,/s.exec(typed)?.[0] ?? "") : "";
  const all = awaiting ? await valuesFor(awaiting, namesOf) : await operandsAt(node, operands, namesOf);
  const taken = awaiting ? head.split(",") : operands;
  const left = all.filter(({ value }) => !taken.includes(value));
  const isOption = !awaiting && (typed.startsWith("-") || (typed === "" && left.length === 0));
  return (isOption ? optionsAt(node) : left)
    .map(({ value, about }) => ({ value: `${head}${value}`, about }))
    .filter(({ value }) => value.startsWith(typed))
    .map(({ value, about }) => ({ value: `${flag}${value}`, about }));
}

/** Where the cursor is in the tree; `awaiting` is the option whose value is being typed. */
function placeOf(root: Node, before: readonly string[]) {
  let node = root;
  let awaiting: Option | undefined;
  const operands: string[] = [];
  for (const word of before) {
    const child = operands.length === 0 && node.commands.find((one) => one.name() === word);
    if (awaiting) awaiting = undefined;
    else if (word.startsWith("-"))
      awaiting = optionsOf(node).find(
        (one) => (one.required || one.optional) && [one.short, one.long].includes(word),
      );
    else if (child) node = child;
    // `help sync` is completed as `sync`.
    else if (word !== "help") operands.push(word);
  }
  return { node, awaiting, operands };
}

/** Options of a node and those of the program, which may stand anywhere. */
function optionsOf(node: Node): readonly Option[] {
  const root = rootOf(node);
  return [...new Set([...node.options, ...root.options])].filter(
    ({ long }) => node === root || long !== "--version",
  );
}

function optionsAt(node: Node): readonly Candidate[] {
  const own = optionsOf(node).map((one) => ({ value: one.long ?? one.flags, about: one.description }));
  return [...own, { value: "--help", about: "print this help" }];
}

async function valuesFor(option: Option, namesOf: NamesOf): Promise<Candidate[]> {
  const values = "values" in option ? (option.values as string[]) : [];
  return plain(values.length > 0 ? values : await namesOf(option.long ?? ""));
}

async function operandsAt(
  { commands, registeredArguments }: Node,
  operands: readonly string[],
  namesOf: NamesOf,
): Promise<readonly Candidate[]> {
  const takes = registeredArguments[operands.length] ?? registeredArguments.findLast((one) => one.variadic);
  if (takes) return plain(await namesOf(takes.name()));
  return commands.map((child) => ({ value: child.name(), about: child.summary() || child.description() }));
}

function plain(values: readonly string[]): Candidate[] {
  return values.map((value) => ({ value, about: "" }));
}
