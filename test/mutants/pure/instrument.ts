import { globSync, readFileSync } from "node:fs";
import { parseAst } from "rolldown/parseAst";
import { conditions, expressionMutants, isNode, isRemovable, type Node } from "./operators.ts";
import type { Part } from "./parts.ts";

export interface Mutant {
  readonly id: number;
  readonly file: string;
  readonly line: number;
  /** The whole line, to find it again when other lines moved. */
  readonly source: string;
  readonly code: string;
  readonly mutated: string;
}

/** The mutants of a part, and its files with all of them: `isMutated(id)` chooses the one that is at work. */
export function instrument({ files, without = [] }: Part) {
  const mutants: Mutant[] = [];
  const names = globSync([...files], { exclude: without }).toSorted();
  const code = names.map((file) => [file, plant(file, readFileSync(file, "utf8"), mutants)] as const);
  return { mutants, code: new Map(code) };
}

/** Expressions of types around an expression of the program. */
const typed = new Set(["TSAsExpression", "TSNonNullExpression", "TSSatisfiesExpression"]);
const skipped = /^(?:Import|ExportAll|TS)/;

function plant(file: string, source: string, mutants: Mutant[]): string {
  const text = (node: Node) => source.slice(node.start, node.end);
  const add = (node: Node, mutated: string, code = text(node)): string => {
    const id = mutants.length + 1;
    const line = source.slice(0, node.start).split("\n").length;
    mutants.push({ id, file, line, source: (source.split("\n")[line - 1] ?? "").trim(), code, mutated });
    return `globalThis.isMutated(${id})`;
  };
  const wrap = (node: Node, instead: readonly string[], code: string): string =>
    instead.reduceRight((rest, mutated) => `(${add(node, mutated)} ? (${mutated}) : ${rest})`, `(${code})`);

  /** `inChain`: a part of `a?.b.c()`, which must stay one expression. */
  function emit(node: Node, isMessage: boolean, inChain: boolean): string {
    if (skipped.test(node.type) && !typed.has(node.type)) return text(node);
    const saysMessage = isMessage || isMessageCall(node) || isReason(node);
    let code = "";
    let at = node.start;
    for (const [key, child] of childrenOf(node)) {
      const isChain = node.type === "ChainExpression" || (inChain && (key === "callee" || key === "object"));
      const always = key === "test" ? (conditions[node.type] ?? []) : [];
      const emitted = isKept(node, key) ? text(child) : emit(child, saysMessage, isChain);
      code += source.slice(at, child.start) + (always.length > 0 ? wrap(child, always, emitted) : emitted);
      at = child.end;
    }
    code += source.slice(at, node.end);
    if (isRemovable(node)) return `{ if (!${add(node, "")}) { ${code} } }`;
    const instead = inChain ? [] : expressionMutants(node, text, saysMessage);
    return instead.length > 0 ? wrap(node, instead, code) : code;
  }
  const program = parseAst(source, { lang: "ts" }) as unknown as Node;
  return source.slice(0, program.start) + emit(program, false, false) + source.slice(program.end);
}

function childrenOf(node: Node): [key: string, child: Node][] {
  const found = Object.entries(node).flatMap(([key, value]) =>
    (Array.isArray(value) ? value : [value]).filter(isNode).map((child): [string, Node] => [key, child]),
  );
  const ordered = found.toSorted(([, a], [, b]) => a.start - b.start);
  // `{ name }` has its name as key and as value.
  return ordered.filter(([, child], i) => child.start >= (ordered[i - 1]?.[1].end ?? 0));
}

/** What no expression may stand for: names, types, targets of assignments. */
function isKept(node: Node, key: string): boolean {
  if (key === "key" || (key === "property" && node["computed"] !== true)) return node["computed"] !== true;
  if (key === "left") return node.type === "AssignmentExpression" || node.type === "ForOfStatement";
  return key === "id" || key === "source" || key === "quasi" || node.type === "UpdateExpression";
}

/** Makes an error, or writes a log line: tests do not repeat the words. */
function isMessageCall(node: Node): boolean {
  if (node.type !== "NewExpression" && node.type !== "CallExpression") return false;
  const callee = node["callee"] as Node;
  const name = (callee["name"] as string | undefined) ?? "";
  const object = callee["object"];
  const ofLog =
    isNode(object) &&
    (object["name"] === "log" || (isNode(object["property"]) && object["property"]["name"] === "log"));
  return ofLog || /Error$|^OddValue$|^Unexpected$|^assert$|^malformed/.test(name);
}

/** `why: "..."`: what an answer says to people. */
function isReason(node: Node): boolean {
  const key = node["key"];
  return node.type === "Property" && isNode(key) && key["name"] === "why";
}
