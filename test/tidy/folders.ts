import path from "node:path";
import { importedFiles } from "./layers.ts";
import type { Complaints, Source } from "./read-source.ts";

const mostFiles = 15;
const shortLines = 40;

/** Nodes of a graph by name, with the names each points to. */
type Graph = ReadonlyMap<string, ReadonlySet<string>>;

/** Circles of files that import each other, types included: each named once, from its first file on. */
export function fileCircles(sources: readonly Source[]): Complaints {
  return circlesOf(new Map(sources.map((source) => [source.path, new Set(importedFiles(source))])));
}

/**
 * Circles between what stands in one folder: each sub-folder with everything below it, and the folder's own
 * files as one.
 */
export function folderCircles(sources: readonly Source[]): Complaints {
  const folders = new Set(sources.flatMap(({ path: file }) => foldersAbove(file)));
  return [...folders].toSorted().flatMap((folder) => circlesOf(graphWithin(folder, sources)));
}

function foldersAbove(file: string): string[] {
  const folder = path.posix.dirname(file);
  return folder === "." ? [] : [folder, ...foldersAbove(folder)];
}

function graphWithin(folder: string, sources: readonly Source[]): Graph {
  const isWithin = (file: string) => file.startsWith(`${folder}/`);
  const nodeOf = (file: string) => {
    const [first = "", inner] = file.slice(folder.length + 1).split("/");
    return inner === undefined ? `${folder}/*` : `${folder}/${first}`;
  };
  const nodes = Map.groupBy(
    sources.filter(({ path: file }) => isWithin(file)),
    ({ path: file }) => nodeOf(file),
  );
  const targetsOf = (node: string, files: readonly Source[]) =>
    files
      .flatMap(importedFiles)
      .filter(isWithin)
      .map(nodeOf)
      .filter((target) => target !== node);
  return new Map([...nodes].map(([node, files]) => [node, new Set(targetsOf(node, files))]));
}

function circlesOf(graph: Graph): string[] {
  const finished = new Set<string>();
  const circles: string[] = [];
  const visit = (node: string, above: readonly string[]): void => {
    if (above.includes(node)) circles.push([...above.slice(above.indexOf(node)), node].join(" -> "));
    if (finished.has(node) || above.includes(node)) return;
    for (const target of graph.get(node) ?? []) visit(target, [...above, node]);
    finished.add(node);
  };
  for (const node of graph.keys()) visit(node, []);
  return circles;
}

/** A folder that holds more is several. */
export function smallFolders(sources: readonly Source[]): Complaints {
  const folders = Map.groupBy(sources, ({ path: file }) => path.posix.dirname(file));
  return [...folders]
    .filter(([, files]) => files.length > mostFiles)
    .map(([folder, files]) => `${folder}: ${files.length} files, ${mostFiles} at most`);
}

/** Three files of a folder that begin with the same word are a folder of their own. */
export function noFamilies(sources: readonly Source[]): Complaints {
  const families = Map.groupBy(sources, ({ path: file }) => {
    const [word = "", second] = path.posix.basename(file, ".ts").split("-");
    return second === undefined || /^\d+$/.test(word) ? null : `${path.posix.dirname(file)}/${word}-*`;
  });
  return [...families]
    .filter(([family, files]) => family !== null && files.length > 3)
    .map(([family]) => `${family}: make it a folder`);
}

/** A short file that only one other needs is a part of that one. Types alone may stand for themselves. */
export function noShards(sources: readonly Source[], allowed: (source: Source) => boolean): Complaints {
  const needed = sources.flatMap((source) => [...new Set(importedFiles(source))]);
  const importers = Map.groupBy(needed, (file) => file);
  return sources
    .filter((source) => source.lines < shortLines && importers.get(source.path)?.length === 1)
    .filter((source) => !isTypesAlone(source) && !allowed(source))
    .map((source) => `${source.path}: ${source.lines} lines with one importer; it belongs there`);
}

function isTypesAlone({ code }: Source): boolean {
  return !/^(?:export )?(?:async )?(?:function|class|const|let)\b/m.test(code);
}

/** A name leads to one file. What is the same of each connector has the same name in each. */
export function uniqueFiles(sources: readonly Source[]): Complaints {
  return repeated(sources.map(({ path: file }) => [withConnector(file), file]));
}

function withConnector(file: string): string {
  const connector = /^connectors\/[^/]+\//.exec(file)?.[0] ?? "";
  return connector + path.posix.basename(file);
}

export function uniqueExports(sources: readonly Source[]): Complaints {
  const exported = /^export (?:async )?(?:function\*?|class) (\w+)/gm;
  return repeated(
    sources.flatMap(({ path: file, code }) =>
      [...code.matchAll(exported)].map((match): [string, string] => [match[1] ?? "", file]),
    ),
  );
}

function repeated(places: readonly (readonly [string, string])[]): Complaints {
  const files = Map.groupBy(places, ([name]) => name);
  return [...files]
    .filter(([, all]) => all.length > 1)
    .map(([name, all]) => `${name} stands in ${all.map(([, file]) => file).join(", ")}`);
}
