import type { SnapshotTable } from "../../store/snapshot/snapshot-tables.ts";
import { quoted } from "../../store/sql-text.ts";
import type { CellColumn } from "../columns/cells.ts";
import type { KeyRange, RowSource } from "../columns/row-source.ts";
import type { ExportRequest, Partition } from "./export-request.ts";
import type { Labels } from "./labels.ts";

interface OutColumn extends CellColumn {
  readonly nullable: boolean;
}

/** How one table is read for its files. */
export interface TablePlan {
  readonly table: SnapshotTable;
  /** Of the files; with `isJson` only the mirror's own. */
  readonly columns: readonly OutColumn[];
  /** Whether `source` reads the JSON of records, with the own columns as its first members. */
  readonly isJson: boolean;
  /** Statements that lay out the rows, for one connection; empty: any connection reads the table in place. */
  readonly setup: readonly string[];
  readonly source: RowSource;
}

/** What `planExport` goes by. */
export interface PlanOptions extends Pick<ExportRequest, "format" | "partition"> {
  /** Only what changed after this number; null: all. */
  readonly since: number | null;
  /** The column that the table is partitioned by. */
  readonly date: string | null;
  readonly labels: Labels;
  /** Condition of the rows to export; null: all. */
  readonly where: string | null;
  /** SQL of the rows with the JSON of the table's records, by id; null: the mirror has none. */
  readonly raw: string | null;
}

/** Where a setup lays rows out. */
export const rowsTable = "temp._export_rows";
/** Before a changed row: `upsert` or `delete`, and the record's last change. */
const ownColumns: readonly OutColumn[] = [
  { name: "_op", type: "TEXT", nullable: false },
  { name: "_seq", type: "INTEGER", nullable: false },
];

/** Plans one table; pure. A table is read in place unless its rows need another order or have no integer key. */
export function planExport(table: SnapshotTable, options: PlanOptions): TablePlan {
  const { since, format, date, where, labels } = options;
  const partition = date === null ? null : options.partition;
  const raw = format === "jsonl" && table.kind === "table" ? options.raw : null;
  const isJson = raw !== null;
  const own = since === null ? [] : ownColumns;
  const read = [...own, ...(isJson ? [] : since === null ? table.columns : changedColumns(table))];
  const columns = read.map((column) => ({
    ...column,
    name: labels.heading(column.name),
    type: labels.typeOf(column),
  }));
  const shown = read.map((column) => labels.shown(column));
  const isStored = table.kind === "table" || table.kind === "child";
  // Rows of a sheet are numbered.
  const inPlace = since === null && partition === null && format !== "xlsx" && isStored;
  if (inPlace)
    return { table, columns, isJson, setup: [], source: sourceInPlace(table, raw ?? shown, where) };
  const part = partition === null || date === null ? "NULL" : partSql(partition, date);
  const names = (isJson ? ["_json"] : read.map(({ name }) => name)).map(quoted);
  const rows = since === null ? presentRows(table, raw, where) : `(${changesSql(table, since, raw)})`;
  const setup = [
    `DROP TABLE IF EXISTS ${rowsTable}`,
    `CREATE TEMP TABLE _export_rows AS SELECT ${part} AS _part, ${names.join(", ")} FROM ${rows} ORDER BY ${orderOf(table, options)}`,
  ];
  const source = { from: rowsTable, key: "rowid", columns: isJson ? names : shown };
  return { table, columns, isJson, setup, source };
}

/** A part of rows that a setup laid out, as the numbers of its rows; null: all of a table that is not partitioned. */
export type LaidOutPart = readonly [name: string | null, firstRow: number, lastRow: number];

/** Query: the parts of rows that a setup laid out. */
export const partsSql = `SELECT _part, min(rowid), max(rowid) FROM ${rowsTable} GROUP BY _part ORDER BY _part`;

/** Divides rows that a setup laid out, by their numbers. */
export function* numberedRanges(first: number, last: number, rowsEach: number): Generator<KeyRange> {
  for (let after = first - 1; after < last; after += rowsEach)
    yield { after: BigInt(after), upTo: BigInt(Math.min(last, after + rowsEach)) };
}

/** A deletion has an id and nothing else. */
function changedColumns({ columns, primaryKey, kind }: SnapshotTable): OutColumn[] {
  const kept = kind === "table" ? primaryKey : primaryKey.slice(0, 1);
  return columns.map((column) => ({ ...column, nullable: !kept.includes(column.name) }));
}

/** @param read SQL of the columns, or of the rows with the JSON of records */
function sourceInPlace(
  table: SnapshotTable,
  read: readonly string[] | string,
  where: string | null,
): RowSource {
  if (typeof read === "string")
    return { from: withRaw(table, read, where), key: "t.id", columns: ["w.json"] };
  const [key = "id"] = table.primaryKey;
  return { from: rowsOf(table, where), key: quoted(key), columns: read };
}

function rowsOf({ name }: SnapshotTable, where: string | null): string {
  return where === null ? quoted(name) : `(SELECT * FROM ${quoted(name)} WHERE ${where})`;
}

function withRaw(table: SnapshotTable, raw: string, where: string | null): string {
  return `${rowsOf(table, where)} t JOIN ${raw} w ON w.id = t.id`;
}

function presentRows(table: SnapshotTable, raw: string | null, where: string | null): string {
  if (raw === null) return rowsOf(table, where);
  return `(SELECT t.*, w.json AS _json FROM ${withRaw(table, raw, where)})`;
}

function orderOf({ kind, primaryKey, view }: SnapshotTable, { since, format }: PlanOptions): string {
  if (since !== null) return "_part, _seq, _place";
  const keys = kind === "table" || kind === "child" ? primaryKey.map(quoted) : [];
  if (view?.sort && format === "xlsx")
    return `${quoted(view.sort.column)} ${view.sort.descending ? "DESC" : "ASC"}`;
  return ["_part", ...keys].join(", ");
}

function partSql(partition: Partition, date: string): string {
  const day = quoted(date);
  const length = partition === "year" ? 4 : 7;
  return `CASE WHEN ${day} GLOB '[0-9][0-9][0-9][0-9]-[01][0-9]*' THEN substr(${day}, 1, ${length}) ELSE '' END`;
}

/**
 * The rows of `--since` in the order of the records' last changes; applied in this order to the earlier rows,
 * they give the present ones. A deleted record is one row with its id. A child table's rows come as a set:
 * one `delete` without a position, then the rows that the parent has now.
 */
function changesSql(table: SnapshotTable, since: number, raw: string | null): string {
  if (table.kind === "child") return childChanges(table, since);
  const { name, columns } = table;
  const op = "CASE WHEN t.id IS NULL THEN 'delete' ELSE 'upsert' END";
  const own = `${op} AS _op, c.seq AS _seq, 0 AS _place`;
  const changed = `${changedRecords(name, since)} c LEFT JOIN ${quoted(name)} t ON t.id = c.id`;
  if (raw !== null) {
    const record = "substr(ltrim(w.json, char(9, 10, 13, 32)), 2)";
    const members = `CASE WHEN t.id IS NULL THEN '"id":' || c.id || '}' ELSE ${record} END`;
    const json = `'{"_op":"' || ${op} || '","_seq":' || c.seq || ',' || ${members} AS _json`;
    return `SELECT ${own}, ${json} FROM ${changed} LEFT JOIN ${raw} w ON w.id = c.id`;
  }
  const shown = columns.map((column) =>
    column.name === "id" ? "c.id AS id" : `t.${quoted(column.name)} AS ${quoted(column.name)}`,
  );
  return `SELECT ${own}, ${shown.join(", ")} FROM ${changed}`;
}

function childChanges({ name, columns, primaryKey, parent }: SnapshotTable, since: number): string {
  const [key = ""] = primaryKey;
  const names = columns.map((column) => quoted(column.name));
  const deleted = names.map((column) => (column === quoted(key) ? `c.id AS ${column}` : `NULL AS ${column}`));
  const changed = changedRecords(parent ?? "", since);
  return `SELECT 'delete' AS _op, c.seq AS _seq, -1 AS _place, ${deleted.join(", ")} FROM ${changed} c
    UNION ALL SELECT 'upsert', c.seq, k.position, ${names.map((column) => `k.${column}`).join(", ")}
    FROM ${changed} c JOIN ${quoted(name)} k ON k.${quoted(key)} = c.id`;
}

/** The records that changed, each with its last change. */
function changedRecords(resource: string, since: number): string {
  return `(SELECT record_id AS id, max(seq) AS seq FROM main._change_log
    WHERE seq > ${since} AND resource = '${resource}' GROUP BY record_id)`;
}
