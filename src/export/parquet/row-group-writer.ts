import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import type { ReportType } from "../../connector/report-view.ts";
import { release } from "../release.ts";
import { writeChunk, zstd, type RowGroup } from "./column-chunk.ts";
import type { Column } from "./column-buffer.ts";
import { mostRows } from "./rows.ts";
import { BooleanColumn, DateColumn, DoubleColumn, Int64Column, WideDecimalColumn } from "./fixed-columns.ts";
import { decimalOf, schemaElement, type ParquetColumn } from "./parquet-types.ts";
import type { NestedColumn } from "./nested.ts";
import { fileSchema } from "./schema.ts";
import { TextColumn } from "./text-column.ts";

/** A row group as it stands alone; where its pages are counts from its own first byte. */
export interface WrittenGroup {
  readonly bytes: Uint8Array;
  readonly group: RowGroup;
}

/** Thrown when a value does not fit its column's type: the table is written once more with a wider one. */
export class TypeOverflow extends Error {
  readonly column: string;

  constructor(column: string) {
    super(`a value does not fit the type of ${column}`);
    this.column = column;
  }
}

/** So many bytes of values are held at most, give or take one row. */
const mostBytes = 24_000_000;
/** What a group becomes, mostly: less to copy than when it grows. */
const groupBytes = 1_000_000;
/** Lists are held as JavaScript's values, ten times as large as the bytes that they become. */
const mostNestedRows = 5_000;
/** Every Parquet file begins with these; a group made alone leaves them out. */
const magicBytes = 4;

/** Cells to row groups: bounded by rows and by bytes, whatever the rows hold. */
export class RowGroupWriter {
  readonly #columns: readonly Column[];
  readonly #described: readonly ParquetColumn[];
  readonly #nested: readonly NestedColumn[];
  readonly #lists: unknown[][];
  readonly #mostRows: number;
  #rows = 0;

  constructor(columns: readonly ParquetColumn[], nested: readonly NestedColumn[]) {
    this.#described = columns;
    this.#columns = columns.map(({ type, nullable }) => columnOf(type, nullable));
    this.#nested = nested;
    this.#mostRows = nested.length > 0 ? mostNestedRows : mostRows;
    this.#lists = nested.map(() => []);
  }

  /** `listsOf` gives the nested columns' values of the row whose cells begin at `from`. */
  write(
    cells: Uint8Array,
    found: (group: WrittenGroup) => void,
    listsOf?: (from: number) => readonly unknown[],
  ): void {
    const columns = this.#columns;
    for (let from = 0; from <= cells.length;) {
      if (listsOf) for (const [i, value] of listsOf(from).entries()) this.#lists[i]?.push(value);
      for (let i = 0; i < columns.length; i++) {
        const next = (columns[i] as Column).add(cells, from);
        if (next === -1) throw new TypeOverflow(this.#described[i]?.name ?? "");
        from = next;
      }
      this.#rows++;
      if (this.#rows === this.#mostRows || (this.#rows % 1024 === 0 && this.#sizeBytes() > mostBytes))
        this.flush(found);
    }
  }

  #sizeBytes(): number {
    return this.#columns.reduce((sum, column) => sum + column.sizeBytes, 0);
  }

  flush(found: (group: WrittenGroup) => void): void {
    if (this.#rows === 0) return;
    const writer = new ByteWriter(groupBytes);
    const schema = fileSchema(this.#described, this.#nested);
    const parquet = new ParquetWriter({ writer, schema, codec: "ZSTD", compressors: { ZSTD: zstd } });
    const start = writer.offset;
    const chunks = this.#columns.map((column, i) =>
      writeChunk(writer, schemaElement(this.#described[i] as ParquetColumn), column),
    );
    chunks.push(...this.#nestedChunks(parquet));
    const bytes = writer.getBytes().slice(magicBytes);
    release(writer.getBytes());
    for (const chunk of chunks) moveChunk(chunk, -start);
    const sum = (size: (chunk: RowGroup["columns"][number]) => bigint | undefined) =>
      chunks.reduce((total, chunk) => total + (size(chunk) ?? 0n), 0n);
    const group: RowGroup = {
      columns: chunks,
      total_byte_size: sum((chunk) => chunk.meta_data?.total_uncompressed_size),
      total_compressed_size: sum((chunk) => chunk.meta_data?.total_compressed_size),
      num_rows: BigInt(this.#rows),
    };
    this.#clear();
    found({ bytes, group });
  }

  #nestedChunks(parquet: ParquetWriter): RowGroup["columns"] {
    if (this.#nested.length === 0) return [];
    const columnData = this.#nested.map(({ name }, i) => ({
      name,
      data: this.#lists[i] ?? [],
      offsetIndex: false,
    }));
    void parquet.write({ columnData, rowGroupSize: this.#rows });
    return parquet.row_groups.flatMap(({ columns }) => columns);
  }

  #clear(): void {
    this.#rows = 0;
    for (const column of this.#columns) column.clear();
    for (const list of this.#lists) list.length = 0;
  }
}

/** The chunk's pages stand `by` bytes further on. */
export function moveChunk(chunk: RowGroup["columns"][number], by: number): void {
  const offset = BigInt(by);
  chunk.file_offset += offset;
  const meta = chunk.meta_data;
  if (!meta) return;
  meta.data_page_offset += offset;
  if (meta.dictionary_page_offset !== undefined) meta.dictionary_page_offset += offset;
}

function columnOf(type: ReportType, nullable: boolean): Column {
  switch (type) {
    case "INTEGER":
    case "TIMESTAMP":
      return new Int64Column(nullable, type);
    case "REAL":
      return new DoubleColumn(nullable);
    case "BOOLEAN":
      return new BooleanColumn(nullable);
    case "DATE":
      return new DateColumn(nullable);
    case "TEXT":
      return new TextColumn(nullable);
    default: {
      const isWide = (decimalOf(type)?.precision ?? 0) > 18;
      return isWide ? new WideDecimalColumn(nullable, type) : new Int64Column(nullable, type);
    }
  }
}
