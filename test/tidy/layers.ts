import path from "node:path";
import type { Complaints, Source } from "./read-source.ts";

/** Lowest first; folders of one row know nothing of each other. */
const layers: readonly (readonly string[])[] = [
  ["base"],
  ["json"],
  ["connector"],
  ["config", "rate-limit", "retry"],
  ["store"],
  ["state", "http", "log", "file-store"],
  ["extract", "report", "export"],
  ["sync", "webhook", "files"],
  ["verify", "backup", "server", "mcp"],
  ["status"],
  ["runs"],
  ["host"],
  ["fleet"],
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
  const own = `connectors/${connector}/`;
  const allowed = ["src/base/", ...(part === "sandbox" ? [`${own}sandbox/`] : [own, "src/connector/"])];
  return importedFiles(source)
    .filter((target) => !allowed.some((folder) => target.startsWith(folder)))
    .concat(part === "sandbox" ? [] : importedFiles(source).filter((target) => target.includes("/sandbox/")))
    .map((target) => `${source.path}: may not know ${target}`);
}

/** Each library has its folders; one that is in no row has not been agreed on. */
const libraries: Readonly<Record<string, readonly string[]>> = {
  undici: ["src/http/"],
  "better-sqlite3": ["src/store/", "src/report/"],
  kysely: ["src/store/", "src/state/", "src/fleet/postgres/"],
  croner: ["src/config/"],
  pino: ["src/log/"],
  "prom-client": ["src/status/"],
  picocolors: ["src/log/"],
  commander: ["src/cli/"],
  "@clack/prompts": ["src/cli/console/"],
  yaml: ["src/config/"],
  fflate: ["src/export/files/", "connectors/fintoro/sandbox/resources/"],
  yauzl: ["src/files/"],
  "hyparquet-writer": ["src/export/"],
  pg: ["src/fleet/postgres/"],
  "pg-boss": ["src/fleet/jobs/"],
  s3mini: ["src/file-store/"],
  "@modelcontextprotocol/server": ["src/mcp/", "src/cli/commands/output/mcp.ts"],
  zod: ["src/connector/", "src/config/", "src/mcp/", "src/rate-limit/state.ts", "connectors/"],
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

/**
 * The engine works with what the connector declares. `tables` are the connector's tables; names of one word
 * that the code needs as ordinary words are left out by the caller.
 */
export function namesNoTable(source: Source, tables: ReadonlySet<string>): Complaints {
  const [root, folder] = source.path.split("/");
  if (root !== "src" || folder === "cli") return [];
  const words = source.strings.flatMap((text) => text.match(/[a-z0-9_]+/g) ?? []);
  const named = new Set(words.filter((word) => tables.has(word)));
  return [...named].map((table) => `${source.path}: names the connector's table ${table}`);
}

/** `_about` is public: views of the report read it. */
const ownTableSql = /\b(?:FROM|INTO|JOIN|UPDATE|TABLE)\s+_(?!about\b)[a-z]/;
const ownStatements = /^src\/store\/own-tables\/statement\.ts$/;
const ownTableFolders = ["src/state/", "src/store/", "src/report/", "src/export/"];

/** SQL on own tables stands in `state/`; store, report and export have their own tables. */
export function ownSqlInItsPlace(source: Source): Complaints {
  if (source.path.startsWith("test/") || ownTableFolders.some((folder) => source.path.startsWith(folder)))
    return [];
  const builds = importedFiles(source).some((file) => ownStatements.test(file));
  return builds || source.strings.some((text) => ownTableSql.test(text))
    ? [`${source.path}: SQL on an own table belongs to src/state`]
    : [];
}
