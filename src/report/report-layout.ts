import { hash } from "node:crypto";
import type { ConnectorDeclaration } from "../connector/connector-declaration.ts";
import type { ReportType } from "../connector/report-view.ts";
import { quoted } from "../store/sql-text.ts";
import { redactedColumns } from "../store/snapshot/redaction.ts";
import type { SnapshotColumn, SnapshotTable } from "../store/snapshot/snapshot-tables.ts";

/** How the report's tables are declared, in the connector's order. Pure: no database is asked. */
export interface ReportLayout {
  /** Tables with rows; `_about` is the last. */
  readonly tables: readonly SnapshotTable[];
  readonly views: readonly SnapshotTable[];
  /** Indexed columns, by table. */
  readonly indexes: ReadonlyMap<string, readonly string[]>;
  /** Equal for layouts that store the same data in the same way, and redact the same of it. */
  readonly hash: string;
}

/** References that are no foreign keys, because a record is missing; by table. */
export type UndeclaredKeys = ReadonlyMap<string, readonly string[]>;

/** What the declaration of a table takes from its rows. */
export interface ColumnChecks {
  /** References whose records are all there: declared as foreign keys. */
  readonly keys: ReadonlySet<string>;
  /** Date columns with a value that a DATE column would turn into a number: declared TEXT. */
  readonly texts: ReadonlySet<string>;
}

/** To be raised when the same data is stored in another way. */
const layoutVersion = 4;

export function layoutOf(declaration: ConnectorDeclaration, shown: readonly SnapshotTable[]): ReportLayout {
  const tables = shown.filter(({ kind }) => kind !== "view");
  const views = shown.filter(({ kind }) => kind === "view");
  const records = new Set(declaration.resources.filter(({ detail }) => detail).map(({ name }) => name));
  const indexes = new Map(tables.map((table) => [table.name, indexedColumns(table, records)]));
  const declared = tables.map((table) => {
    const keys = new Set(referencesOf(table).map(({ name }) => name));
    return [tableSql(table, { keys, texts: new Set() }), indexes.get(table.name), redactedColumns(table)];
  });
  const text = JSON.stringify([layoutVersion, declared, views.map((view) => viewSql(view))]);
  return { tables, views, indexes, hash: hash("sha256", text, "hex").slice(0, 32) };
}

/**
 * Columns that rows are looked up by: dates, statuses, and ids of records that have a detail. An index on ids
 * of fixed lists costs more than it saves.
 */
function indexedColumns({ columns, primaryKey, kind }: SnapshotTable, records: ReadonlySet<string>) {
  const isIndexed = ({ type, name, references }: SnapshotColumn) =>
    isDay(type) ||
    name === "status" ||
    (kind === "files" && name === "document_id") ||
    (references !== null && records.has(references));
  return columns.flatMap((one) => (isIndexed(one) && one.name !== primaryKey[0] ? [one.name] : []));
}

export function isDay(type: ReportType): boolean {
  return type === "DATE" || type === "TIMESTAMP";
}

/** Columns that hold the id of another table. */
export function referencesOf({ columns }: SnapshotTable) {
  return columns.filter(
    (column): column is SnapshotColumn & { readonly references: string } => column.references !== null,
  );
}

/** `CREATE TABLE`; without checks with no foreign keys. */
export function tableSql(table: SnapshotTable, checks?: ColumnChecks): string {
  const lines = table.columns.map((column) => columnSql(table, column, checks));
  const isRecord = table.kind === "table";
  if (!isRecord) lines.push(`PRIMARY KEY (${table.primaryKey.map(quoted).join(", ")})`);
  const body = lines.map((line) => `\n  ${line}`).join(",");
  return `CREATE TABLE ${quoted(table.name)} (${body}\n)${isRecord ? "" : " WITHOUT ROWID"}`;
}

function columnSql({ kind, primaryKey }: SnapshotTable, column: SnapshotColumn, checks?: ColumnChecks) {
  const { name, type, nullable, references } = column;
  const isKey = kind === "table" && name === primaryKey[0];
  const parts = [quoted(name), checks?.texts.has(name) ? "TEXT" : type];
  if (isKey) parts.push("PRIMARY KEY");
  else if (!nullable) parts.push("NOT NULL");
  if (references !== null && checks?.keys.has(name)) parts.push(`REFERENCES ${quoted(references)} ("id")`);
  const meaning = columnMeaning(column);
  if (meaning !== "") parts.push(`/* ${meaning.replaceAll("*/", "* /")} */`);
  return parts.join(" ");
}

/** What a column means and its known values, in words for readers of the report; empty where nothing is known. */
export function columnMeaning({ doc, references, values }: SnapshotColumn): string {
  const parts = [doc?.replace(/\.$/, "") ?? null, references === null ? null : `Id in ${references}`];
  if (values !== null) parts.push(`Known values: ${values.join(", ")}`);
  return parts.filter((part) => part !== null).join(". ");
}

/** `CREATE INDEX` of a column, and of `more` after it. */
export function indexSql(schema: string, table: string, column: string, ...more: readonly string[]): string {
  const name = `${quoted(schema)}.${quoted(`${table}_by_${column}`)}`;
  return `CREATE INDEX ${name} ON ${quoted(table)} (${[column, ...more].map(quoted).join(", ")})`;
}

/** `CREATE VIEW`; the `untyped` columns get a cast, because SQLite gives an expression no type. */
export function viewSql(
  { name, view, columns }: SnapshotTable,
  untyped: ReadonlySet<string> = new Set(),
): string {
  const sql = view?.sql ?? "SELECT NULL";
  if (untyped.size === 0) return `CREATE VIEW ${quoted(name)} AS ${sql}`;
  const shown = columns.map((column) => {
    const own = quoted(column.name);
    return untyped.has(column.name) ? `CAST(${own} AS ${castOf(column.type)}) AS ${own}` : own;
  });
  return `CREATE VIEW ${quoted(name)} AS SELECT ${shown.join(", ")}\nFROM (${sql})`;
}

/** Casts go by affinity: one to DATE or DECIMAL would make a day a number and 2.0 an integer. */
function castOf(type: ReportType): "INTEGER" | "REAL" | "TEXT" {
  if (type === "INTEGER" || type === "BOOLEAN") return "INTEGER";
  return type === "REAL" || type.startsWith("DECIMAL") ? "REAL" : "TEXT";
}

/** `CREATE TABLE "x"` -> `CREATE TABLE "report"."x"`. */
export function inSchema(schema: string, sql: string): string {
  return sql.replace(/^CREATE (TABLE|VIEW) /, `CREATE $1 ${quoted(schema)}.`);
}
