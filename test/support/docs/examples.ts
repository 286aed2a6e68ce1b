import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseAllDocuments } from "yaml";

const examplesFolder = fileURLToPath(new URL("../../../examples", import.meta.url));

/** Every file below examples/, by its path from there. */
export const examples: ReadonlyMap<string, string> = new Map(
  readdirSync(examplesFolder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .map((file) => [path.relative(examplesFolder, file), readFileSync(file, "utf8")] as const),
);

export function example(name: string): string {
  const text = examples.get(name);
  if (text === undefined) throw new Error(`there is no examples/${name}`);
  return text;
}

export type Tree = Readonly<Record<string, unknown>>;

/** The documents of a YAML file; throws where it is none. */
export function documentsOf(name: string): Tree[] {
  return parseAllDocuments(example(name), { prettyErrors: true }).map((document) => {
    if (document.errors.length > 0) throw document.errors[0];
    return document.toJS() as Tree;
  });
}

/** `at(tree, "spec", "ports", 0)`; undefined where the way ends. */
export function at(tree: unknown, ...way: readonly (string | number)[]): unknown {
  return way.reduce<unknown>(
    (node, step) => (node as Record<string | number, unknown> | undefined)?.[step],
    tree,
  );
}

/** Of the unit file: the values of each key by section, comments left out, continued lines joined. */
export function unitOf(name: string) {
  const sections: Record<string, Record<string, string[]>> = {};
  let keys: Record<string, string[]> = {};
  for (const line of example(name)
    .replaceAll(/\\\n\s*/g, " ")
    .split("\n")) {
    const [, section] = /^\[(\w+)\]$/.exec(line) ?? [];
    if (section !== undefined) sections[section] = keys = {};
    const [, key, value = ""] = /^(\w+)=(.*)$/.exec(line) ?? [];
    if (key !== undefined) (keys[key] ??= []).push(value);
  }
  return sections;
}

/** Every pod in Kubernetes: its file, the name of what makes it, and its `spec`. */
export const pods = [...examples.keys()]
  .filter((file) => file.startsWith("kubernetes/"))
  .flatMap((file) =>
    documentsOf(file).flatMap((one) => {
      const made = at(one, "spec", "jobTemplate", "spec") ?? at(one, "spec");
      const pod = at(made, "template", "spec");
      return pod === undefined ? [] : [[file, String(at(one, "metadata", "name")), pod] as const];
    }),
  );
