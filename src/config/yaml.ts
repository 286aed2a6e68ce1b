import {
  isAlias,
  isMap,
  isSeq,
  LineCounter,
  parseAllDocuments,
  visit,
  type Document,
  type Node,
  type Pair,
} from "yaml";
import { messageOf, MirrorError } from "../base/errors.ts";

/** Counted from 1. */
interface Position {
  readonly line: number;
  readonly column: number;
}

/** Keys from the top: `["companies", "acme", "token"]`. */
export type Path = readonly PropertyKey[];

/** Something wrong, and where. */
export interface LocatedProblem {
  readonly position: Position;
  readonly message: string;
}

/** `config.yaml:3:7: …` */
export function problemLine(file: string, { position, message }: LocatedProblem): string {
  return `${file}:${position.line}:${position.column}: ${message}`;
}

/** A file that was read, with the places of everything in it. */
export interface YamlFile {
  /** Plain data; undefined when there are problems or nothing is written. */
  readonly value: unknown;
  readonly problems: readonly LocatedProblem[];
  /** Where a key or its value stands; the nearest parent where it is absent. */
  locate(path: Path, what: "key" | "value"): Position;
}

/** Reads one YAML 1.2 document; JSON is one, too. Problems are returned, never thrown. */
export function readYaml(text: string): YamlFile {
  const lines = new LineCounter();
  const options = { lineCounter: lines, prettyErrors: false, stringKeys: true, merge: true } as const;
  const documents = [...parseAllDocuments(text, options)];
  const positionOf = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const errors = documents.flatMap((each) => each.errors);
  const problems = errors.map(({ pos, code, message }) => ({
    position: positionOf(pos[0]),
    message: sentence(code, message),
  }));
  const [document, second] = documents;
  if (second) {
    const position = positionOf(second.contents?.range?.[0] ?? second.range[0]);
    problems.push({ position, message: "a second document starts here; a file holds one" });
  }
  const locate = (path: Path, what: "key" | "value") =>
    document ? positionOf(offsetOf(document, path, what)) : positionOf(0);
  if (!document || problems.length > 0) return { value: undefined, problems, locate };
  return { ...plain(document, positionOf), locate };
}

/** A YAML or JSON document that a user points at, as plain data. `name` is its name in messages. Throws `usage`. */
export function readDocument(text: string, name: string): unknown {
  if (/^\s*[{[]/.test(text)) {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      // Braces begin YAML, too; it also knows the place of what is wrong.
    }
  }
  const { value, problems } = readYaml(text);
  if (problems.length > 0) {
    const lines = problems.map((problem) => problemLine(name, problem));
    throw new MirrorError("usage", lines.join("\n"), { hint: "it must be one YAML or JSON document" });
  }
  if (value === undefined) throw new MirrorError("usage", `${name}:1:1: the file is empty`);
  return value;
}

function plain(document: Document, positionOf: (offset: number) => Position): Omit<YamlFile, "locate"> {
  try {
    return { value: document.toJS({ maxAliasCount: 1000 }) ?? undefined, problems: [] };
  } catch (error) {
    const position = positionOf(danglingAlias(document));
    return { value: undefined, problems: [{ position, message: messageOf(error) }] };
  }
}

function danglingAlias(document: Document): number {
  let offset = 0;
  visit(document, {
    Alias(_, alias) {
      if (alias.resolve(document)) return undefined;
      offset = alias.range?.[0] ?? 0;
      return visit.BREAK;
    },
  });
  return offset;
}

function sentence(code: string, message: string): string {
  if (code === "DUPLICATE_KEY") return "this key is already in the same map";
  if (code === "TAB_AS_INDENT") return "a tab cannot indent YAML; use spaces";
  return `not valid YAML: ${message}`;
}

function offsetOf(document: Document, path: Path, what: "key" | "value"): number {
  let node: unknown = document.contents;
  let offset = document.contents?.range?.[0] ?? 0;
  for (const [depth, key] of path.entries()) {
    const found = child(document, node, key);
    if (!found) return offset;
    const last = depth === path.length - 1;
    const valueOffset = (found.value as Node | null)?.range?.[0] ?? found.keyOffset;
    offset = last && what === "value" ? valueOffset : found.keyOffset;
    node = found.value;
  }
  return offset;
}

function child(
  document: Document,
  node: unknown,
  key: PropertyKey,
): { value: unknown; keyOffset: number } | null {
  const target = isAlias(node) ? node.resolve(document) : node;
  if (isSeq(target)) {
    const value = target.items[Number(key)] as Node | undefined;
    return value ? { value, keyOffset: value.range?.[0] ?? 0 } : null;
  }
  if (!isMap(target)) return null;
  const pair = target.items.find((item) => textOf(item) === String(key));
  return pair ? { value: pair.value, keyOffset: (pair.key as Node).range?.[0] ?? 0 } : null;
}

function textOf(pair: Pair): string {
  return String((pair.key as { value?: unknown } | null)?.value);
}
