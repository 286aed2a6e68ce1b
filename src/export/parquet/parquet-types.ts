import { ByteWriter, ParquetWriter, type SchemaElement } from "hyparquet-writer";
import type { ReportType } from "../../connector/report-view.ts";

/** Rows of a row group at most: 20,000 keep a thread below 100 MB, 100,000 took 1.3 GB. */
export const maxRowGroupRows = 20_000;

export interface ParquetColumn {
  readonly name: string;
  readonly type: ReportType;
  /** Written as OPTIONAL, with definition levels; otherwise REQUIRED. */
  readonly nullable: boolean;
}

/** A child table as a column of its parent: a LIST of structs, in the order of `position`. */
export interface NestedColumn {
  readonly name: string;
  /** The child table's column with the parent's id. */
  readonly parentKey: string;
  readonly columns: readonly ParquetColumn[];
}

const wideDecimal = "DECIMAL(38,18)";

/** Precision and scale of a DECIMAL; null for another type. */
export function decimalOf(type: ReportType) {
  const match = /^DECIMAL\((\d+),(\d+)\)$/.exec(type);
  return match ? { precision: Number(match[1]), scale: Number(match[2]) } : null;
}

/**
 * The type that a column gets when a value overflows `type`: DECIMAL -> DECIMAL(38,18) -> REAL; a DATE or
 * TIMESTAMP that is none -> TEXT. Null: nothing overflows this type.
 */
export function widerType(type: ReportType): ReportType | null {
  if (type === "DATE" || type === "TIMESTAMP") return "TEXT";
  if (type === wideDecimal) return "REAL";
  return decimalOf(type) ? wideDecimal : null;
}

/** A value does not fit its column's type; the table is written again with a wider one. */
export class TypeOverflow extends Error {
  readonly column: string;
  readonly type: ReportType;

  /** `column` of a nested column is `list.column`. */
  constructor(column: string, type: ReportType) {
    super(`a value does not fit the type ${type} of ${column}`);
    this.column = column;
    this.type = type;
  }
}

/** The schema of a file: its columns, then a LIST of structs for each nested column. */
export function fileSchema(
  columns: readonly ParquetColumn[],
  nested: readonly NestedColumn[],
): SchemaElement[] {
  return [
    { name: "schema", num_children: columns.length + nested.length },
    ...columns.map(schemaElement),
    ...nested.flatMap(listElements),
  ];
}

function listElements({ name, columns }: NestedColumn): SchemaElement[] {
  const list = { converted_type: "LIST", logical_type: { type: "LIST" } } as const;
  return [
    { name, repetition_type: "OPTIONAL", num_children: 1, ...list },
    { name: "list", repetition_type: "REPEATED", num_children: 1 },
    { name: "element", repetition_type: "OPTIONAL", num_children: columns.length },
    ...columns.map((column) => schemaElement({ ...column, nullable: true })),
  ];
}

/** A column's physical and logical type. TIMESTAMP is in microseconds, UTC. */
export function schemaElement({ name, type, nullable }: ParquetColumn): SchemaElement {
  return {
    name,
    repetition_type: nullable ? "OPTIONAL" : "REQUIRED",
    ...(simpleTypes[type] ?? decimalTypes(type)),
  };
}

type ElementTypes = Omit<SchemaElement, "name">;

const simpleTypes: Readonly<Record<string, ElementTypes>> = {
  INTEGER: { type: "INT64" },
  REAL: { type: "DOUBLE" },
  BOOLEAN: { type: "BOOLEAN" },
  TEXT: { type: "BYTE_ARRAY", converted_type: "UTF8", logical_type: { type: "STRING" } },
  DATE: { type: "INT32", converted_type: "DATE", logical_type: { type: "DATE" } },
  TIMESTAMP: {
    type: "INT64",
    converted_type: "TIMESTAMP_MICROS",
    logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MICROS" },
  },
};

/** INT64 holds 18 digits. */
function decimalTypes(type: ReportType): ElementTypes {
  const { precision, scale } = decimalOf(type) ?? { precision: 38, scale: 18 };
  const logical = { type: "DECIMAL", precision, scale } as const;
  const types = { converted_type: "DECIMAL", precision, scale, logical_type: logical } as const;
  return precision <= 18
    ? { type: "INT64", ...types }
    : { type: "FIXED_LEN_BYTE_ARRAY", type_length: 16, ...types };
}

export const parquetMagic = Buffer.from("PAR1");

export type RowGroup = ParquetWriter["row_groups"][number];

/** What is known of a file before its rows. */
export interface ParquetFile {
  readonly columns: readonly ParquetColumn[];
  readonly nested: readonly NestedColumn[];
  readonly facts: Readonly<Record<string, string>>;
  readonly createdBy: string;
}

/** The bytes after the last row group. Each row group is placed behind the one before it. */
export function parquetFooter(file: ParquetFile & { readonly rowGroups: readonly RowGroup[] }): Uint8Array {
  const { columns, nested, rowGroups, facts, createdBy } = file;
  const writer = new ByteWriter();
  const kvMetadata = Object.entries(facts).map(([key, value]) => ({ key, value }));
  const parquet = new ParquetWriter({ writer, schema: fileSchema(columns, nested), kvMetadata, createdBy });
  let offset = BigInt(parquetMagic.length);
  for (const group of rowGroups) {
    placeRowGroup(group, offset);
    offset += group.total_compressed_size ?? 0n;
    parquet.num_rows += group.num_rows;
  }
  parquet.row_groups.push(...rowGroups);
  void parquet.finish();
  return writer.getBytes().slice(parquetMagic.length);
}

/** Its offsets, which count from its own first byte, grow by `offset`. */
function placeRowGroup({ columns }: RowGroup, offset: bigint): void {
  for (const chunk of columns) {
    chunk.file_offset += offset;
    const meta = chunk.meta_data;
    if (!meta) continue;
    meta.data_page_offset += offset;
    if (meta.dictionary_page_offset !== undefined) meta.dictionary_page_offset += offset;
  }
}
