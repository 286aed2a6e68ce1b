import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import type { RowGroup } from "./column-chunk.ts";
import { fileSchema, type NestedColumn, type ParquetColumn } from "./parquet-types.ts";

/** The first bytes of every Parquet file. */
export const parquetMagic = Buffer.from("PAR1");

/** What is known of a file before its rows. */
export interface ParquetFile {
  readonly columns: readonly ParquetColumn[];
  readonly nested: readonly NestedColumn[];
  /** Key-value metadata. */
  readonly facts: Readonly<Record<string, string>>;
  readonly createdBy: string;
}

/** The bytes after the last row group; the row groups have their offsets in the file. */
export function parquetFooter(file: ParquetFile & { readonly rowGroups: readonly RowGroup[] }): Uint8Array {
  const { columns, nested, rowGroups, facts, createdBy } = file;
  const writer = new ByteWriter();
  const kvMetadata = Object.entries(facts).map(([key, value]) => ({ key, value }));
  const parquet = new ParquetWriter({ writer, schema: fileSchema(columns, nested), kvMetadata, createdBy });
  parquet.row_groups.push(...rowGroups);
  parquet.num_rows = rowGroups.reduce((sum, group) => sum + group.num_rows, 0n);
  void parquet.finish();
  return writer.getBytes().slice(parquetMagic.length);
}

/** Places a row group in the file: its offsets, which count from its own first byte, grow by `at`. */
export function placeRowGroup(rowGroup: RowGroup, at: number): RowGroup {
  const offset = BigInt(at);
  for (const chunk of rowGroup.columns) {
    chunk.file_offset += offset;
    const meta = chunk.meta_data;
    if (!meta) continue;
    meta.data_page_offset += offset;
    if (meta.dictionary_page_offset !== undefined) meta.dictionary_page_offset += offset;
  }
  return rowGroup;
}
