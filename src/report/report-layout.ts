import { hash } from "node:crypto";
import type { Manifest } from "../connector/connector-manifest.ts";
import type { ReportType } from "../connector/report-view.ts";
import { quoted } from "../store/sql-text.ts";
import type { SnapshotColumn, SnapshotTable } from "../store/snapshot/snapshot-tables.ts";

/**
 * How the report's tables are declared: data and text, nothing is asked of a database here. The order of
 * tables, columns and indexes is that of the connector.
 */
export interface Layout {
  /** Tables with rows, `_about` the last of them. */
  readonly tables: readonly SnapshotTable[];
  readonly views: readonly SnapshotTable[];
  /** By table. */
  readonly indexes: ReadonlyMap<string, readonly string[]>;
  /** Two layouts with the same hash hold the same data the same way. */
  readonly hash: string;
}

/** Raised when the same data is to be laid out otherwise. */
const layoutVersion = 2;

export function layoutOf(manifest: Manifest, shown: readonly SnapshotTable[]): Layout {
  const tables = shown.filter(({ kind }) => kind !== "view");
  const views = shown.filter(({ kind }) => kind === "view");
  const records = new Set(manifest.resources.filter(({ detail }) => detail).map(({ name }) => name));
  const indexes = new Map(tables.map((table) => [table.name, indexedColumns(table, records)]));
  const declared = tables.map((table) => [tableSql(table, () => true), indexes.get(table.name)]);
  const said = JSON.stringify([layoutVersion, declared, views.map((view) => viewSql(view))]);
  return { tables, views, indexes, hash: hash("sha256", said, "hex").slice(0, 32) };
}

/**
 * What people look rows up by: ids of records that have a life of their own (not of fixed lists, where an
 * index costs more than it saves), dates and statuses.
 */
function indexedColumns({ columns, primaryKey }: SnapshotTable, records: ReadonlySet<string>): string[] {
  const isAsked = ({ type, name, references }: SnapshotColumn) =>
    isDay(type) || name === "status" || (references !== null && records.has(references));
  return columns.filter((column) => isAsked(column) && column.name !== primaryKey[0]).map(({ name }) => name);
}

export function isDay(type: ReportType): boolean {
  return type === "DATE" || type === "TIMESTAMP";
}

/** `holds` says which of its references are declared as keys; `texts` are days that are none. */
export function tableSql(
  table: SnapshotTable,
  holds: (column: string, references: string) => boolean,
  texts: ReadonlySet<string> = new Set(),
): string {
  const lines = table.columns.map((column) => columnSql(table, column, holds, texts));
  const isRecord = table.kind === "table";
  if (!isRecord) lines.push(`PRIMARY KEY (${table.primaryKey.map(quoted).join(", ")})`);
  const body = lines.map((line) => `\n  ${line}`).join(",");
  return `CREATE TABLE ${quoted(table.name)} (${body}\n)${isRecord ? "" : " WITHOUT ROWID"}`;
}

function columnSql(
  { kind, primaryKey }: SnapshotTable,
  { name, type, nullable, references }: SnapshotColumn,
  holds: (column: string, references: string) => boolean,
  texts: ReadonlySet<string>,
): string {
  const isKey = kind === "table" && name === primaryKey[0];
  const parts = [quoted(name), texts.has(name) ? "TEXT" : type];
  if (isKey) parts.push("PRIMARY KEY");
  else if (!nullable) parts.push("NOT NULL");
  if (references !== null && holds(name, references)) parts.push(`REFERENCES ${quoted(references)} ("id")`);
  return parts.join(" ");
}

export function indexSql(schema: string, table: string, column: string): string {
  return `CREATE INDEX ${quoted(schema)}.${quoted(`${table}_by_${column}`)} ON ${quoted(table)} (${quoted(column)})`;
}

/** Of `untyped` columns a cast tells readers the type, which SQLite cannot tell of an expression. */
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

/** A cast to DATE or DECIMAL would make a number of a day, an integer of 2.0: casts go by affinity. */
function castOf(type: ReportType): "INTEGER" | "REAL" | "TEXT" {
  if (type === "INTEGER" || type === "BOOLEAN") return "INTEGER";
  return type === "REAL" || type.startsWith("DECIMAL") ? "REAL" : "TEXT";
}

/** `CREATE TABLE "x"` -> `CREATE TABLE "report"."x"`. */
export function inSchema(schema: string, sql: string): string {
  return sql.replace(/^CREATE (TABLE|VIEW) /, `CREATE $1 ${quoted(schema)}.`);
}
