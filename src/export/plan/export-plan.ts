import { MirrorError } from "../../base/errors.ts";
import { assertKnown } from "../../base/names.ts";
import type { ConnectorDeclaration } from "../../connector/connector-declaration.ts";
import { shownColumn, type ExportLanguage, type Translation } from "../../connector/translation.ts";
import type { Snapshot } from "../../state/mirror-snapshot.ts";
import { hasTable } from "../../store/database.ts";
import type { SnapshotTable } from "../../store/snapshot/snapshot-tables.ts";
import { quoted } from "../../store/sql-text.ts";
import type { CellColumn } from "../columns/cells.ts";
import type { ParquetColumn } from "../parquet/parquet-types.ts";
import type { KeyRange, RowSource } from "../columns/row-source.ts";
import type { ExportRequest } from "./export-request.ts";
import { documentDate, periodLimit, type DatedPeriod } from "./period.ts";

/** How one table is read for its files. */
export interface TableExport {
  readonly table: SnapshotTable;
  readonly title: string;
  /** The days that its rows are limited to; null: it has all. */
  readonly period: DatedPeriod | null;
  /** Of the files; with `isJson` only the mirror's own. */
  readonly columns: readonly ParquetColumn[];
  /** The part of rows without a date, and of a table without rows; null: the table is not partitioned. */
  readonly undated: string | null;
  /** Whether `source` reads the JSON of records, with the own columns as its first members. */
  readonly isJson: boolean;
  /** Statements that lay out the rows, for one connection; empty: any connection reads the table in place. */
  readonly setup: readonly string[];
  readonly source: RowSource;
}

/** Where a setup lays rows out. */
export const rowsTable = "temp._export_rows";
/** Before a changed row: `upsert` or `delete`, and the record's last change. */
const ownColumns: readonly ParquetColumn[] = [
  { name: "_op", type: "TEXT", nullable: false },
  { name: "_seq", type: "INTEGER", nullable: false },
];

/**
 * Plans the tables and views to export: those that are named, or all tables; with `nested` without child tables, which
 * are columns of their parents then.
 *
 * @throws MirrorError `usage`: an unknown name, a view that `since` or the period cannot limit, or a language without words
 */
export function planTables(
  snapshot: Snapshot,
  declaration: ConnectorDeclaration,
  request: ExportRequest,
): TableExport[] {
  const words = translationTo(declaration, request.language);
  return chosenTables(snapshot.tables, request).map((table) => {
    const { period, format, partition } = request;
    const limit = period && periodLimit(declaration, snapshot.tables, table, period);
    const date = partition === null || format === "xlsx" ? null : documentDate(declaration, table);
    const raw = format === "jsonl" && table.kind === "table" ? rawOf(snapshot, table) : null;
    const name = quoted(table.name);
    const rows = limit ? `(SELECT * FROM ${name} WHERE ${limit.sql})` : name;
    const shown = { title: words?.titles[table.name] ?? table.name, period: limit?.period ?? null };
    return { table, ...shown, ...planRows(table, request, rows, words, date, raw) };
  });
}

/** Where JSON of a table's records is; null: they have none of their own, or the mirror does not know the resource yet. */
function rawOf({ db, redaction }: Snapshot, { name }: SnapshotTable): string | null {
  if (!hasTable(db, `_raw_${name}`)) return null;
  const raw = quoted(`_raw_${name}`);
  if (!redaction?.records.has(name)) return raw;
  return `(SELECT id, redacted_json('${name}', json) AS json FROM ${raw})`;
}

/** A table is read in place unless its rows need another order or have no integer key. */
function planRows(
  table: SnapshotTable,
  { since, partition, format }: ExportRequest,
  rows: string,
  words: Translation | null,
  date: string | null,
  raw: string | null,
): Pick<TableExport, "columns" | "undated" | "isJson" | "setup" | "source"> {
  const isJson = raw !== null;
  const own = since === null ? [] : ownColumns;
  const read = [...own, ...(isJson ? [] : since === null ? table.columns : changedColumns(table))];
  const columns = read.map((column) => ({ ...column, ...shownAs(column, words) }));
  const shown = read.map((column) => shownSql(column, words));
  const isStored = table.kind === "table" || table.kind === "child";
  const [key = "id"] = table.primaryKey;
  // Rows of a sheet are numbered.
  if (since === null && date === null && format !== "xlsx" && isStored) {
    const source = isJson
      ? { from: `${rows} t`, key: "t.id", columns: [`(SELECT json FROM ${raw} w WHERE w.id = t.id)`] }
      : { from: rows, key: quoted(key), columns: shown };
    return { columns, undated: null, isJson, setup: [], source };
  }
  const { part, undated } = partOf(partition, date);
  const names = (isJson ? ["_json"] : read.map(({ name }) => name)).map(quoted);
  const present = isJson ? `(SELECT t.*, w.json AS _json FROM ${rows} t JOIN ${raw} w ON w.id = t.id)` : rows;
  const from = since === null ? present : `(${changesSql(table, since.seq, raw)})`;
  const order = since === null ? orderOf(table, format) : "_part, _seq, _place";
  const setup = [
    `DROP TABLE IF EXISTS ${rowsTable}`,
    `CREATE TEMP TABLE _export_rows AS SELECT ${part} AS _part, ${names.join(", ")} FROM ${from} ORDER BY ${order}`,
  ];
  const laidOut = { from: rowsTable, key: "rowid", columns: isJson ? names : shown };
  return { columns, undated, isJson, setup, source: laidOut };
}

/** The words of a language; null: names and values stay as they are. */
export function translationTo(
  { translations, title }: ConnectorDeclaration,
  language: ExportLanguage,
): Translation | null {
  if (language === "en") return null;
  const words = translations?.[language];
  if (!words) throw new MirrorError("usage", `${title} has no translation to ${language}`);
  return words;
}

function shownAs(column: CellColumn, words: Translation | null): CellColumn {
  const { heading, values } = shownColumn(words, column);
  return { name: heading, type: values.size > 0 ? "TEXT" : column.type };
}

const literal = (value: string | number) =>
  typeof value === "number" ? value : `'${value.replaceAll("'", "''")}'`;

function shownSql(cell: CellColumn, words: Translation | null): string {
  const column = quoted(cell.name);
  const { values } = shownColumn(words, cell);
  if (values.size === 0) return column;
  const cases = [...values].map(([value, word]) => `WHEN ${literal(value)} THEN ${literal(word)}`);
  return `CASE ${column} ${cases.join(" ")} ELSE ${column} END`;
}

function chosenTables(
  tables: readonly SnapshotTable[],
  { tables: names, nested, since, history }: Pick<ExportRequest, "tables" | "nested" | "since" | "history">,
): SnapshotTable[] {
  const known = tables.map((table) => table.name);
  assertKnown("table", names, known, "`fintoro-mirror schema --tables` lists them all");
  const chosen = tables.filter(({ name, kind }) =>
    names.length > 0 ? names.includes(name) : kind === "table" || (kind === "child" && !nested),
  );
  const unchanging = chosen.find(({ kind }) => kind !== "table" && kind !== "child");
  if (unchanging && (since !== null || history)) {
    const what = `${unchanging.name} is no table of the service: it has no changes of its own`;
    throw new MirrorError("usage", what, { hint: "With --since and --history, name tables only." });
  }
  if (!history) return chosen;
  return tables.filter(
    ({ kind, parent }) => kind === "history" && chosen.some(({ name }) => name === parent),
  );
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
function changedColumns({ columns, primaryKey, kind }: SnapshotTable): ParquetColumn[] {
  const kept = kind === "table" ? primaryKey : primaryKey.slice(0, 1);
  return columns.map((column) => ({ ...column, nullable: !kept.includes(column.name) }));
}

function orderOf({ kind, primaryKey, view }: SnapshotTable, format: ExportRequest["format"]): string {
  const keys = kind === "view" ? [] : primaryKey.map(quoted);
  if (view?.sort && format === "xlsx")
    return `${quoted(view.sort.column)} ${view.sort.descending ? "DESC" : "ASC"}`;
  return ["_part", ...keys].join(", ");
}

/** SQL of a row's part. A folder of months would hide the column `month` of a view by months: that has years only. */
function partOf(partition: ExportRequest["partition"], date: string | null) {
  if (partition === null || date === null) return { part: "NULL", undated: null };
  const [length, undated] = partition === "year" || date === "month" ? [4, ""] : [7, "-"];
  const day = quoted(date);
  const dated = `${day} GLOB '[0-9][0-9][0-9][0-9]-[01][0-9]*'`;
  return { part: `CASE WHEN ${dated} THEN substr(${day}, 1, ${length}) ELSE '${undated}' END`, undated };
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
    return `SELECT ${own}, t.*, ${json} FROM ${changed} LEFT JOIN ${raw} w ON w.id = c.id`;
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

function changedRecords(resource: string, since: number): string {
  return `(SELECT record_id AS id, max(seq) AS seq FROM _change_log
    WHERE seq > ${since} AND resource = '${resource}' GROUP BY record_id)`;
}
