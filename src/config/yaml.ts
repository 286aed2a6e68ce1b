import { resolve } from "node:path";
import { isAlias, isMap, isNode, isScalar, isSeq, parseAllDocuments, stringify, visit } from "yaml";
import type { Document } from "yaml";
import { messageOf, MirrorError, valueOr } from "../base/errors.ts";

/** Keys from the top: `["companies", "acme", "token"]`. */
export type Path = readonly PropertyKey[];

/** `companies.acme.webhook.secrets[0]` */
export function pathText(path: Path): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === "number") return `${text}[${key}]`;
    return text === "" ? String(key) : `${text}.${String(key)}`;
  }, "");
}

/** What stands at a path of the raw file; undefined where nothing does. */
export function valueAt(raw: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, key) => {
    if (value === null || typeof value !== "object" || !Object.hasOwn(value, key)) return undefined;
    return (value as Record<PropertyKey, unknown>)[key];
  }, raw);
}

/** Something wrong in a file; line and column are counted from 1. */
export type LocatedProblem = Readonly<{ line: number; column: number; message: string }>;

/** `config.yaml:3:7: …` */
export function problemLine(file: string, { line, column, message }: LocatedProblem): string {
  return `${file}:${line}:${column}: ${message}`;
}

export type YamlFile = ReturnType<typeof readYaml>;

/** Absolute path of the config: as named, else by the environment, else in the folder. */
export function configPath(named: string | undefined, env: NodeJS.ProcessEnv, cwd: string): string {
  return resolve(cwd, named ?? (env["FINTORO_MIRROR_CONFIG"] || "config.yaml"));
}

/**
 * Reads one YAML 1.2 document; JSON is one, too. Problems are returned, never thrown; an empty file is one, and where there are
 * problems the value is undefined. `locate` says where a key or its value stands; the nearest parent where it is absent.
 */
export function readYaml(text: string) {
  const options = { prettyErrors: false, stringKeys: true, merge: true } as const;
  const documents = [...parseAllDocuments(text, options)];
  const [document, second] = documents;
  const problems: LocatedProblem[] = [];
  // The library's own counter misses line breaks within a flow collection.
  const positionOf = (offset: number) => {
    const before = text.slice(0, offset).split("\n");
    return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
  };
  const add = (offset: number, message: string) => problems.push({ ...positionOf(offset), message });
  for (const { pos, code, message } of documents.flatMap((each) => each.errors))
    add(pos[0], sentence(code, message));
  if (second)
    add(startOf(second.contents) ?? second.range[0], "a second document starts here; a file holds one");
  const locate = (path: Path, what: "key" | "value") =>
    positionOf(document ? offsetOf(document, path, what) : 0);
  if (problems.length > 0) return { value: undefined, problems, locate };
  let value: unknown;
  try {
    value = document?.toJS({ maxAliasCount: 1000 }) ?? undefined;
    if (value === undefined) add(0, "the file is empty");
  } catch (error) {
    add(document ? danglingAlias(document) : 0, withoutSource(messageOf(error)));
  }
  return { value, problems, locate };
}

/** A YAML or JSON document that a user points at, as plain data. `name` is its name in messages. Throws `usage`. */
export function readDocument(text: string, name: string): unknown {
  // Braces begin YAML, too; it also knows the place of what is wrong.
  const content = /^\s*[{[]/.test(text) ? valueOr(() => JSON.parse(text) as unknown, undefined) : undefined;
  if (content !== undefined) return content;
  const { value, problems } = readYaml(text);
  if (problems.length > 0) {
    const lines = problems.map((problem) => problemLine(name, problem));
    throw new MirrorError("usage", lines.join("\n"), { hint: "it must be one YAML or JSON document" });
  }
  return value;
}

/** A text as YAML, in quotes where it would mean something else. */
export function formatScalar(text: string): string {
  return stringify(text, { lineWidth: 0, version: "1.1" }).trimEnd();
}

function danglingAlias(document: Document): number {
  let offset = 0;
  visit(document, {
    Alias(_, alias) {
      if (alias.resolve(document)) return undefined;
      offset = startOf(alias) ?? 0;
      return visit.BREAK;
    },
  });
  return offset;
}

function sentence(code: string, message: string): string {
  if (code === "DUPLICATE_KEY") return "this key is already in the same map: keep one of the two";
  if (code === "TAB_AS_INDENT") return "a tab cannot indent YAML; use spaces";
  if (code === "TAG_RESOLVE_FAILED") return "no such tag; put a text that begins with ! in quotes";
  return `not valid YAML: ${withoutSource(message)}`;
}

/** The library repeats a piece of the file at the end of some messages; it may be a secret. */
function withoutSource(message: string): string {
  return message.replace(/(?<=\S): .*/s, "");
}

function offsetOf(document: Document, path: Path, what: "key" | "value"): number {
  let node: unknown = document.contents;
  let offset = startOf(node) ?? 0;
  for (const [depth, key] of path.entries()) {
    const target = isAlias(node) ? node.resolve(document) : node;
    const pair = isMap(target)
      ? target.items.find((item) => isScalar(item.key) && item.key.value === key)
      : undefined;
    node = isSeq(target) ? target.items[Number(key)] : pair?.value;
    const keyOffset = startOf(pair?.key ?? node);
    if (keyOffset === undefined) return offset;
    const wantsValue = what === "value" && depth === path.length - 1;
    offset = (wantsValue ? startOf(node) : undefined) ?? keyOffset;
  }
  return offset;
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}
