import type { Command as Node, CommanderError } from "commander";
import { MirrorError } from "../../base/errors.ts";
import { someOf, unknownName } from "../../base/names.ts";

const program = "fintoro-mirror";

/** Words of the command line that lead to a node: `webhooks inbox`; empty for the program itself. */
export function wordsOf(node: Node): string[] {
  return node.parent ? [...wordsOf(node.parent), node.name()] : [];
}

/** The program itself. */
export function rootOf(node: Node): Node {
  return node.parent ? rootOf(node.parent) : node;
}

/** What the parser found wrong at a node, as an error that says what was meant and where to look. */
export function usageError(node: Node, { code, message }: CommanderError): MirrorError {
  const words = wordsOf(node);
  const hint = `\`${[program, ...words, "--help"].join(" ")}\` shows what there is`;
  const refused = (text: string) => new MirrorError("usage", text, { hint });
  const [, named = ""] = /'([^']*)'/.exec(message) ?? [];
  const where = words.length > 0 ? ` of ${words.join(" ")}` : "";
  const [flag = ""] = named.split("=");
  if (code === "commander.unknownOption" && flag !== named && optionsOf(node).includes(flag))
    return refused(`${flag} takes no value`);
  if (code === "commander.unknownOption")
    return refused(unknownName("option", named, optionsOf(node), where));
  if (code === "commander.unknownCommand" || (code === "commander.excessArguments" && hasChildren(node)))
    return refused(unknownCommand(node, node.args[0] ?? ""));
  if (code === "commander.help")
    return refused(`which command? There ${hasOneChild(node) ? "is" : "are"} ${childrenOf(node).join(", ")}`);
  if (code === "commander.excessArguments")
    return refused(`${words.join(" ")} takes ${argumentsText(node)}, and got ${someOf(node.args, 5)}`);
  if (code === "commander.missingArgument")
    return refused(`${words.join(" ")} needs <${named}>: ${argumentDoc(node, named)}`);
  if (code === "commander.optionMissingArgument") return refused(`${named} needs a value`);
  return refused(message.replace(/^error: /, ""));
}

/** Long names of the options that may stand at a node. */
function optionsOf(node: Node): string[] {
  const own = node.options.flatMap(({ long }) => long ?? []);
  return [...own, ...(node.parent ? optionsOf(node.parent) : []), ...(node.parent ? [] : ["--help"])];
}

function hasChildren(node: Node): boolean {
  return node.commands.length > 0;
}

function hasOneChild(node: Node): boolean {
  return node.commands.length === 1;
}

function childrenOf(node: Node): string[] {
  return node.commands.map((child) => wordsOf(child).join(" "));
}

/** The last word of a longer command alone means that one: `inbox` is `webhooks inbox`. */
function unknownCommand(node: Node, given: string): string {
  const name = [...wordsOf(node), given].join(" ");
  const below = node.commands.flatMap((group) => group.commands).find((child) => child.name() === given);
  if (below) return `${unknownName("command", name, [])}. Did you mean ${wordsOf(below).join(" ")}?`;
  return unknownName("command", name, childrenOf(node));
}

function argumentsText({ registeredArguments: own }: Node): string {
  return own.length === 0 ? "no arguments" : own.map((one) => `<${one.name()}>`).join(" ");
}

function argumentDoc(node: Node, name: string): string {
  return node.registeredArguments.find((one) => one.name() === name)?.description ?? "";
}
