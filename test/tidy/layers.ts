import path from "node:path";
import type { Source } from "./read-source.ts";

/** A rule's verdict: what is wrong, starting with where. */
export type Complaints = readonly string[];

/** Lowest first; folders of one row know nothing of each other. */
export const layers: readonly (readonly string[])[] = [
  ["base"],
  ["json"],
  ["connector"],
  ["config", "govern", "store"],
  ["http", "work", "export", "report"],
  ["extract", "webhook"],
  ["sync"],
  ["verify"],
  ["schedule"],
  ["observe"],
  ["daemon"],
  ["cli"],
  ["entry"],
];

/** `src/cli/run.ts` -> `cli`; what stands in src itself puts the parts together. */
function layerOf(file: string): string {
  const [, folder = "", inner] = file.split("/");
  return inner === undefined ? "entry" : folder;
}

function rankOf(layer: string): number {
  return layers.findIndex((row) => row.includes(layer));
}

/** The files of the project that a file imports. */
export function importedFiles(source: Source): string[] {
  return source.imports
    .filter((name) => name.startsWith("."))
    .map((name) => path.posix.join(path.posix.dirname(source.path), name));
}

/** Imports of src point down: to a lower row, or within the folder. */
export function pointsDown(source: Source): Complaints {
  if (!source.path.startsWith("src/")) return [];
  const own = layerOf(source.path);
  if (rankOf(own) === -1) return [`${source.path}: ${own} has no place among the layers`];
  return importedFiles(source)
    .filter((target) => target.startsWith("src/") && layerOf(target) !== own)
    .filter((target) => rankOf(layerOf(target)) >= rankOf(own) || rankOf(layerOf(target)) === -1)
    .map((target) => `${source.path}: ${own} may not know ${target}`);
}

/** Only what puts the parts together knows connectors; no product code knows tests. */
export function knowsNoConnector(source: Source): Complaints {
  if (!source.path.startsWith("src/")) return [];
  const known = layerOf(source.path) === "entry" ? ["src/", "connectors/"] : ["src/"];
  return importedFiles(source)
    .filter((target) => !known.some((folder) => target.startsWith(folder)))
    .map((target) => `${source.path}: may not know ${target}`);
}

/** A connector is data over src/connector and src/base; its sandbox shares no code with the engine or the connector. */
export function connectorKeepsToItself(source: Source): Complaints {
  const [, connector, part] = source.path.split("/");
  if (!source.path.startsWith("connectors/")) return [];
  const own = part === "sandbox" ? `connectors/${connector}/sandbox/` : `connectors/${connector}/`;
  const allowed = [own, "src/connector/", "src/base/"];
  return importedFiles(source)
    .filter((target) => !allowed.some((folder) => target.startsWith(folder)))
    .concat(part === "sandbox" ? [] : importedFiles(source).filter((target) => target.includes("/sandbox/")))
    .map((target) => `${source.path}: may not know ${target}`);
}

/** Each library has its folders; one that is in no row has not been agreed on. */
const libraries: Readonly<Record<string, readonly string[]>> = {
  undici: ["src/http/"],
  "better-sqlite3": ["src/store/", "src/report/", "src/govern/sqlite-store.ts"],
  kysely: ["src/store/", "src/report/"],
  croner: ["src/schedule/"],
  pino: ["src/observe/"],
  "prom-client": ["src/observe/"],
  picocolors: ["src/observe/"],
  commander: ["src/cli/"],
  yaml: ["src/config/"],
  "hyparquet-writer": ["src/export/"],
  s3mini: ["src/export/s3/"],
  zod: ["src/connector/", "src/config/", "src/govern/persisted.ts", "connectors/"],
};

export function libraryInItsFolder(source: Source): Complaints {
  if (source.path.startsWith("test/")) return [];
  return source.imports
    .filter((name) => !name.startsWith(".") && !name.startsWith("node:"))
    .filter((name) => !folderAllows(packageOf(name), source.path))
    .map((name) => `${source.path}: ${packageOf(name)} does not belong here`);
}

function folderAllows(library: string, file: string): boolean {
  return (libraries[library] ?? []).some((folder) => file.startsWith(folder));
}

function packageOf(name: string): string {
  const parts = name.split("/");
  return parts.slice(0, name.startsWith("@") ? 2 : 1).join("/");
}

/** Rings of files that import each other, types included: each named once, from its first file on. */
export function importRings(sources: readonly Source[]): Complaints {
  const graph = new Map(sources.map((source) => [source.path, importedFiles(source)]));
  const finished = new Set<string>();
  const rings: string[] = [];
  const visit = (file: string, above: readonly string[]): void => {
    if (above.includes(file)) rings.push([...above.slice(above.indexOf(file)), file].join(" -> "));
    if (finished.has(file) || above.includes(file)) return;
    for (const target of graph.get(file) ?? []) visit(target, [...above, file]);
    finished.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
  return rings;
}
