import type { SnapshotTable } from "../../store/snapshot/snapshot-tables.ts";
import { quoted } from "../../store/sql-text.ts";
import type { CellColumn } from "../columns/cells.ts";
import { changesSql } from "./changed-rows.ts";
import type { Format, Partition } from "./formats.ts";
import { columnsNamed, type RowSource } from "../columns/row-source.ts";

/** A column of the files, with what may be said of it. */
interface OutColumn extends CellColumn {
  readonly nullable: boolean;
  readonly doc: string | null;
}

/** How one table is read for its files. */
export interface TablePlan {
  readonly table: SnapshotTable;
  /** Of the files; for records as the service gives them, what `source` reads is the JSON alone. */
  readonly columns: readonly OutColumn[];
  /** JSON of whole records: `record` is a line, `after columns` the members after those of the columns. */
  readonly json: "record" | "after columns" | null;
  /** Statements for the one thread that reads it; none: any thread may read any part. */
  readonly setup: readonly string[];
  readonly source: RowSource;
  readonly isPartitioned: boolean;
}

export interface PlanOptions {
  readonly format: Format;
  readonly since: number | null;
  readonly partition: Partition | null;
  /** The column that the table is partitioned by. */
  readonly date: string | null;
  /** Is there a table of the records' JSON? */
  readonly hasRaw: boolean;
}

const rowsTable = "_export_rows";
const ownColumns: readonly OutColumn[] = [
  { name: "_op", type: "TEXT", nullable: false, doc: "`upsert` or `delete`." },
  { name: "_seq", type: "INTEGER", nullable: false, doc: "The record's last change." },
];

/** Pure. Tables are read where they stand; what has no key that grows, or another order, is first laid out. */
export function planTable(table: SnapshotTable, options: PlanOptions): TablePlan {
  const { since, format, hasRaw } = options;
  const partition = options.date === null ? null : options.partition;
  const isRaw = format === "jsonl" && table.kind === "table" && hasRaw;
  const json = !isRaw ? null : since === null ? "record" : "after columns";
  const columns = since === null ? table.columns : [...ownColumns, ...changedColumns(table)];
  const read = isRaw
    ? [...(since === null ? [] : ownColumns.map(({ name }) => name)), "json"]
    : columns.map(({ name }) => name);
  const stays = since === null && partition === null && (table.kind === "table" || table.kind === "child");
  if (stays) return { table, columns, json, setup: [], source: inPlace(table, isRaw), isPartitioned: false };
  const rows = since === null ? rowsSql(table, isRaw, options.date) : changesSql(table, since, isRaw);
  const setup = layOut(rows, partitionSql(partition, options.date), orderOf(table, since));
  const source = { from: `temp.${quoted(rowsTable)}`, key: "rowid", columns: columnsNamed(read) };
  return { table, columns, json, setup, source, isPartitioned: partition !== null };
}

/** A deletion has nothing but its id. */
function changedColumns({ columns, primaryKey, kind }: SnapshotTable): OutColumn[] {
  const kept = kind === "table" ? primaryKey : primaryKey.slice(0, 1);
  return columns.map((column) => ({ ...column, nullable: !kept.includes(column.name) }));
}

function inPlace({ name, columns, primaryKey }: SnapshotTable, isRaw: boolean): RowSource {
  const raw = `${quoted(name)} t JOIN main.${quoted(`_raw_${name}`)} w ON w.id = t.id`;
  if (isRaw) return { from: raw, key: "t.id", columns: [{ name: "json", sql: "w.json" }] };
  const [key = "id"] = primaryKey;
  return {
    from: quoted(name),
    key: quoted(key),
    columns: columnsNamed(columns.map((c) => c.name)),
  };
}

function rowsSql({ name, columns }: SnapshotTable, isRaw: boolean, date: string | null): string {
  if (!isRaw) return `SELECT ${columns.map((column) => quoted(column.name)).join(", ")} FROM ${quoted(name)}`;
  const day = date === null ? "NULL" : `t.${quoted(date)}`;
  return `SELECT t.id AS id, ${day} AS ${quoted(date ?? "_day")}, w.json AS json
    FROM ${quoted(name)} t JOIN main.${quoted(`_raw_${name}`)} w ON w.id = t.id`;
}

/** By the part, then as they stood. */
function orderOf({ kind, primaryKey }: SnapshotTable, since: number | null): string {
  if (since !== null) return "_part, _seq, _place";
  const keys = kind === "table" || kind === "child" ? primaryKey.map(quoted) : [];
  return ["_part", ...keys].join(", ");
}

function partitionSql(partition: Partition | null, date: string | null): string {
  if (partition === null || date === null) return "''";
  const day = quoted(date);
  const length = partition === "year" ? 4 : 7;
  return `CASE WHEN ${day} GLOB '[0-9][0-9][0-9][0-9]-[01][0-9]-*' THEN substr(${day}, 1, ${length}) ELSE '' END`;
}

function layOut(rows: string, part: string, order: string): string[] {
  return [
    `DROP TABLE IF EXISTS temp.${quoted(rowsTable)}`,
    `CREATE TEMP TABLE ${quoted(rowsTable)} AS SELECT ${part} AS _part, * FROM (${rows}) ORDER BY ${order}`,
  ];
}

/** The parts of what was laid out: name, first row, last row. */
export const partsSql = `SELECT _part, min(rowid), max(rowid) FROM temp.${quoted(rowsTable)} GROUP BY _part ORDER BY _part`;
