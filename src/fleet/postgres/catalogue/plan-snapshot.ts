/** What DuckLake's catalogue has of published files, and the rows of its next snapshot. Names are those of DuckLake. */
import type { ReportType } from "../../../connector/report-view.ts";

export interface CountingFile {
  readonly name: string;
  /** `company=acme/invoices/data-7-42.parquet`: `name=value` is a column that the file itself lacks. */
  readonly key: string;
  readonly rows: number;
  readonly bytes: number;
  readonly columns: readonly { readonly name: string; readonly type: ReportType }[];
}

interface CatalogueColumn {
  readonly column_id: number;
  readonly column_name: string;
  /** `int64`, `decimal(18,6)`. */
  readonly column_type: string;
}

export interface Catalogue {
  /** The last one. */
  readonly snapshot: {
    readonly snapshot_id: number;
    readonly schema_version: number;
    readonly next_catalog_id: number;
    readonly next_file_id: number;
  };
  readonly tables: readonly {
    readonly table_id: number;
    readonly table_name: string;
    readonly columns: readonly CatalogueColumn[];
    /** The newest: files name their columns, and do not number them. */
    readonly mapping_id: number;
    readonly next_row_id: number;
  }[];
  /** Those of the companies that are looked at, without an end. */
  readonly files: readonly {
    readonly data_file_id: number;
    readonly table_id: number;
    readonly path: string;
  }[];
}

type NewRow = Readonly<Record<string, string | number>>;

export type SnapshotPlan = NonNullable<ReturnType<typeof planSnapshot>>;

/**
 * The next snapshot: of some companies it has the files that count, and no other. Null: so does the last one.
 *
 * A table has the columns of all companies that had some. A column's type holds the values of all, and only gets wider.
 */
export function planSnapshot(now: Catalogue, counting: readonly CountingFile[]) {
  const snapshot = { ...now.snapshot, snapshot_id: now.snapshot.snapshot_id + 1 };
  const begin_snapshot = snapshot.snapshot_id;
  const schema_version = snapshot.schema_version + 1;
  /** By their table, without its prefix. A column's new row ends the one before. */
  const rows = new Map<string, NewRow[]>();
  const insert = (table: string, row: NewRow) =>
    rows
      .set(table, rows.get(table) ?? [])
      .get(table)
      ?.push(row);
  const keys = new Set(counting.map(({ key }) => key));
  const ended = now.files.filter(({ path }) => !keys.has(path));
  const changes = new Set(ended.map(({ table_id }) => `deleted_from_table:${table_id}`));
  const present = new Set(now.files.map(({ path }) => path));
  const added = counting.filter(({ key }) => !present.has(key));
  for (const [table_name, files] of Map.groupBy(added, ({ name }) => name)) {
    const before = now.tables.find((table) => table.table_name === table_name);
    const known = before?.columns ?? [];
    const table_id = before?.table_id ?? snapshot.next_catalog_id++;
    if (!before) insert("table", { table_id, begin_snapshot, table_name });
    const columns = fitColumns(known, files);
    const isKnown = (one: CatalogueColumn) => known[one.column_id - 1]?.column_type === one.column_type;
    for (const column of columns.filter((one) => !isKnown(one)))
      insert("column", { table_id, begin_snapshot, ...column, column_order: column.column_id });
    if (!columns.every(isKnown)) {
      snapshot.schema_version = schema_version;
      insert("schema_versions", { table_id, begin_snapshot, schema_version });
      changes.add(before ? `altered_table:${table_id}` : `created_table:"main"."${table_name}"`);
    }
    // Two of them: an odd one for files with the day in their path, and the even one before it for the others. A reader
    // keeps the mappings that it has read, and asks for those from the last `next_file_id` on: DuckDB 1.5.5 counts
    // mappings by it, where the specification says `next_catalog_id`.
    const isMapped = before && columns.length === known.length;
    const { next_file_id: next } = snapshot;
    const mapping = isMapped ? before.mapping_id : next + 1 + (next % 2);
    for (const mapping_id of isMapped ? [] : [mapping - 1, mapping])
      insert("column_mapping", { table_id, mapping_id });
    snapshot.next_file_id = Math.max(next, mapping + 1);
    let row_id_start = before?.next_row_id ?? 0;
    // One without rows says which columns there are, and nothing else.
    for (const { key: path, rows: record_count, bytes } of files.filter((file) => file.rows > 0)) {
      const mapping_id = path.includes("/report_date=") ? mapping : mapping - 1;
      const ids = { data_file_id: snapshot.next_file_id++, table_id, begin_snapshot, mapping_id };
      insert("data_file", { ...ids, path, record_count, file_size_bytes: bytes, row_id_start });
      row_id_start += record_count;
      changes.add(`inserted_into_table:${table_id}`);
    }
  }
  if (changes.size === 0) return null;
  insert("snapshot_changes", { snapshot_id: snapshot.snapshot_id, changes_made: [...changes].join(",") });
  return { snapshot, rows, endedFiles: ended.map(({ data_file_id }) => data_file_id) };
}

/** The columns of a table and of these files, each of a type that holds their values, in the order of their numbers. */
function fitColumns(known: readonly CatalogueColumn[], files: readonly CountingFile[]): CatalogueColumn[] {
  const columns = new Map(known.map((column) => [column.column_name.toLowerCase(), column]));
  for (const { name, type } of files.flatMap(columnsOf)) {
    const key = name.toLowerCase();
    const first = { column_id: columns.size + 1, column_name: name, column_type: type };
    const { column_type, ...column } = columns.get(key) ?? first;
    columns.set(key, { ...column, column_type: commonType(column_type, type) });
  }
  return [...columns.values()];
}

/** Those of its path first. They hide a column of the same name, as DuckDB's `hive_partitioning` does. */
function columnsOf({ key, columns }: CountingFile): { name: string; type: string }[] {
  const ofPath = pathColumns.filter(({ name }) => key.includes(`${name}=`));
  const own = columns.filter(({ name }) => !ofPath.some((one) => one.name === name.toLowerCase()));
  return [
    ...ofPath,
    ...own.map(({ name, type }) => ({ name, type: simpleTypes[type] ?? type.toLowerCase() })),
  ];
}

const pathColumns = [
  { name: "company", type: "varchar" },
  { name: "report_date", type: "date" },
];

const simpleTypes: Readonly<Record<string, string>> = {
  INTEGER: "int64",
  REAL: "float64",
  BOOLEAN: "boolean",
  TEXT: "varchar",
  DATE: "date",
  TIMESTAMP: "timestamptz",
};

function commonType(a: string, b: string): string {
  if (a === b) return a;
  const [left, right] = [digitsOf(a), digitsOf(b)];
  if (!left || !right) return "varchar";
  const scale = Math.max(left.scale, right.scale);
  const precision = Math.max(left.whole, right.whole) + scale;
  return precision > 38 ? "float64" : `decimal(${precision},${scale})`;
}

/** Digits before and behind the point; null: no number. */
function digitsOf(type: string): { readonly whole: number; readonly scale: number } | null {
  if (type === "int64") return { whole: 19, scale: 0 };
  if (type === "float64") return { whole: Infinity, scale: 0 };
  const [, precision, scale] = /^decimal\((\d+),(\d+)\)$/.exec(type) ?? [];
  return scale === undefined ? null : { whole: Number(precision) - Number(scale), scale: Number(scale) };
}
