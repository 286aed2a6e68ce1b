import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import { freeBytes } from "../columns/cells.ts";
import { writeColumnChunk, zstd } from "./column-chunk.ts";
import type { ColumnBuffer } from "./column-buffer.ts";
import { bufferFor } from "./typed-columns.ts";
import { fileSchema, maxRowGroupRows, schemaElement, TypeOverflow } from "./parquet-types.ts";
import type { NestedColumn, ParquetColumn, RowGroup } from "./parquet-types.ts";

/** A row group ends when its values take so many bytes, give or take 1,024 rows. */
const maxValueBytes = 24_000_000;
/** Space for the usual row group, so that the buffer seldom grows. */
const initialBytes = 1_000_000;
/** Nested columns are held as JavaScript values, ten times as large as their bytes. */
const maxNestedRows = 5_000;

/** Turns cells into row groups, bounded by rows and by bytes. */
export class RowGroupWriter {
  readonly #columns: readonly ColumnBuffer[];
  readonly #declared: readonly ParquetColumn[];
  readonly #nested: readonly NestedColumn[];
  readonly #lists: unknown[][];
  readonly #maxRows: number;
  #rows = 0;
  /** Their offsets count from their own first byte. */
  #finished: { readonly bytes: Uint8Array; readonly rowGroup: RowGroup }[] = [];

  constructor(columns: readonly ParquetColumn[], nested: readonly NestedColumn[]) {
    this.#declared = columns;
    this.#columns = columns.map(bufferFor);
    this.#nested = nested;
    this.#maxRows = nested.length > 0 ? maxNestedRows : maxRowGroupRows;
    this.#lists = nested.map(() => []);
  }

  /**
   * Adds the rows of `cells`. `listsOf` gives the nested columns' values of the row whose cells begin at `from`.
   *
   * @throws TypeOverflow
   */
  write(cells: Uint8Array, listsOf?: (from: number) => readonly unknown[]): void {
    const columns = this.#columns;
    for (let from = 0; from <= cells.length;) {
      if (listsOf) for (const [i, value] of listsOf(from).entries()) this.#lists[i]?.push(value);
      for (let i = 0; i < columns.length; i++) {
        const next = (columns[i] as ColumnBuffer).add(cells, from);
        if (next === -1) {
          const { name, type } = this.#declared[i] as ParquetColumn;
          throw new TypeOverflow(name, type);
        }
        from = next;
      }
      this.#rows++;
      if (this.#rows === this.#maxRows || (this.#rows % 1024 === 0 && this.#valueBytes() > maxValueBytes))
        this.#endRowGroup();
    }
  }

  /** Ends the last row group and gives all since the last call. */
  finish() {
    if (this.#rows > 0) this.#endRowGroup();
    const finished = this.#finished;
    this.#finished = [];
    return finished;
  }

  /** Frees the memory of the columns; it takes no more rows. */
  release(): void {
    for (const column of this.#columns) column.release();
  }

  #valueBytes(): number {
    return this.#columns.reduce((sum, column) => sum + column.sizeBytes, 0);
  }

  #endRowGroup(): void {
    const writer = new ByteWriter(initialBytes);
    const schema = fileSchema(this.#declared, this.#nested);
    const parquet = new ParquetWriter({ writer, schema, codec: "ZSTD", compressors: { ZSTD: zstd } });
    // Without the magic bytes that stand at the beginning of a file.
    writer.index = 0;
    writer.offset = 0;
    const columns = this.#columns.map((column, i) =>
      writeColumnChunk(writer, schemaElement(this.#declared[i] as ParquetColumn), column),
    );
    columns.push(...this.#nestedChunks(parquet));
    const bytes = writer.getBytes().slice();
    freeBytes(writer.getBytes());
    const sizes = columns.map((chunk) => chunk.meta_data?.total_uncompressed_size ?? 0n);
    const rowGroup: RowGroup = {
      columns,
      total_byte_size: sizes.reduce((total, size) => total + size, 0n),
      total_compressed_size: BigInt(bytes.length),
      num_rows: BigInt(this.#rows),
    };
    this.#finished.push({ bytes, rowGroup });
    this.#rows = 0;
    for (const column of this.#columns) column.clear();
    for (const list of this.#lists) list.length = 0;
  }

  #nestedChunks(parquet: ParquetWriter): RowGroup["columns"] {
    if (this.#nested.length === 0) return [];
    const dataOf = (i: number) => this.#lists[i] ?? [];
    const columnData = this.#nested.map(({ name }, i) => ({ name, data: dataOf(i), offsetIndex: false }));
    void parquet.write({ columnData, rowGroupSize: this.#rows });
    return parquet.row_groups.flatMap(({ columns }) => columns);
  }
}
