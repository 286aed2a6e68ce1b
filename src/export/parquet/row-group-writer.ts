import { constants, zstdCompressSync } from "node:zlib";
import { ByteWriter, ParquetWriter, type SchemaElement } from "hyparquet-writer";
import { writePageHeader } from "hyparquet-writer/src/datapage.js";
import { writeRleBitPackedHybrid } from "hyparquet-writer/src/encoding.js";
import { freeBytes } from "../columns/cells.ts";
import type { ColumnBuffer, Dictionary } from "./column-buffer.ts";
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

/** Level 1: a sixth larger than level 3, and three times as fast. */
const zstdOptions = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

function zstd(bytes: Uint8Array): Uint8Array {
  return zstdCompressSync(bytes, zstdOptions);
}

type ColumnChunk = RowGroup["columns"][number];

/**
 * Writes one column of a row group as a column chunk: a dictionary page where values repeat, then one data
 * page. hyparquet-writer does the same from JavaScript values in six times the time; it is used for page
 * headers, runs of levels and indexes, nested columns and the footer.
 */
function writeColumnChunk(writer: ByteWriter, element: SchemaElement, column: ColumnBuffer): ColumnChunk {
  const start = writer.offset;
  const { rows, count } = column;
  const { plain, dictionary, min, max } = column.encode();
  const encoding = dictionary ? ("RLE_DICTIONARY" as const) : ("PLAIN" as const);
  let uncompressed = 0;
  if (dictionary) {
    const values = { num_values: dictionary.firsts.length, encoding: "PLAIN" } as const;
    uncompressed += writePage(writer, { type: "DICTIONARY_PAGE", dictionary_page_header: values }, plain);
  }
  const pageStart = writer.offset;
  const levels = element.repetition_type === "REQUIRED" ? noLevels : encodeLevels(column);
  const sizes = {
    num_values: rows,
    num_nulls: rows - count,
    num_rows: rows,
    encoding,
    definition_levels_byte_length: levels.length,
    repetition_levels_byte_length: 0,
    is_compressed: true,
  };
  const body = dictionary ? encodeIndexes(dictionary, count) : plain;
  uncompressed += writePage(writer, { type: "DATA_PAGE_V2", data_page_header_v2: sizes }, body, levels);
  const pages = [{ page_type: "DATA_PAGE_V2", encoding, count: 1 } as const];
  return {
    file_offset: BigInt(start),
    meta_data: {
      type: element.type ?? "BYTE_ARRAY",
      encodings: ["RLE", "PLAIN", ...(dictionary ? [encoding] : [])],
      path_in_schema: [element.name],
      codec: "ZSTD",
      num_values: BigInt(rows),
      total_uncompressed_size: BigInt(uncompressed),
      total_compressed_size: BigInt(writer.offset - start),
      data_page_offset: BigInt(pageStart),
      ...(dictionary ? { dictionary_page_offset: BigInt(start) } : {}),
      statistics: { null_count: BigInt(rows - count), min_value: min, max_value: max },
      encoding_stats: dictionary
        ? [{ page_type: "DICTIONARY_PAGE", encoding: "PLAIN", count: 1 }, ...pages]
        : pages,
    },
  };
}

const noLevels = new Uint8Array(0);
type PageHeader = Parameters<typeof writePageHeader>[1];

/** Writes a page; returns its uncompressed size, header included. Definition levels are not compressed. */
function writePage(
  writer: ByteWriter,
  header: Omit<PageHeader, "uncompressed_page_size" | "compressed_page_size">,
  body: Uint8Array,
  levels: Uint8Array = noLevels,
): number {
  const bytes = zstd(body);
  const start = writer.offset;
  const uncompressed = levels.length + body.length;
  const compressed = levels.length + bytes.length;
  writePageHeader(writer, {
    ...header,
    uncompressed_page_size: uncompressed,
    compressed_page_size: compressed,
  });
  const headerSize = writer.offset - start;
  writer.appendBytes(levels);
  writer.appendBytes(bytes);
  freeBytes(bytes);
  return headerSize + uncompressed;
}

/** The body of an RLE_DICTIONARY page: the bit width, then the indexes. */
function encodeIndexes({ firsts, indexes }: Dictionary, count: number): Uint8Array {
  const bitWidth = Math.max(1, 32 - Math.clz32(firsts.length - 1));
  const writer = new ByteWriter(2 * count);
  writer.appendUint8(bitWidth);
  writeRleBitPackedHybrid(writer, indexes.subarray(0, count), bitWidth);
  return writer.getBytes();
}

function encodeLevels({ definitionLevels, rows }: ColumnBuffer): Uint8Array {
  const writer = new ByteWriter();
  writeRleBitPackedHybrid(writer, definitionLevels.subarray(0, rows), 1);
  return writer.getBytes();
}
