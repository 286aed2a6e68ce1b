import { constants, zstdCompressSync } from "node:zlib";
import type { ByteWriter, ParquetWriter, SchemaElement } from "hyparquet-writer";
import { writePageHeader } from "hyparquet-writer/src/datapage.js";
import { release } from "../release.ts";
import { bitWidthOf, packed, repeated } from "./bit-packing.ts";
import type { Column, Values } from "./column-buffer.ts";

/** Level 1: a sixth larger than level 3, and three times as fast. */
const options = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

export function zstd(bytes: Uint8Array): Uint8Array {
  return zstdCompressSync(bytes, options);
}

export type RowGroup = ParquetWriter["row_groups"][number];
type ColumnChunk = RowGroup["columns"][number];

/**
 * One column of one row group as bytes of a file: a dictionary page where values repeat, then one data page.
 * hyparquet-writer does the same from JavaScript values, at six times the price: it stays for headers,
 * nested columns and the footer.
 */
export function writeChunk(writer: ByteWriter, element: SchemaElement, column: Column): ColumnChunk {
  const start = writer.offset;
  const values = column.values();
  const dictionary = values.dictionary;
  let uncompressed = 0;
  if (dictionary) uncompressed += writeDictionary(writer, dictionary.plain, dictionary.of.firsts.length);
  const pageStart = writer.offset;
  const levels = element.repetition_type === "REQUIRED" ? new Uint8Array(0) : levelsOf(column);
  uncompressed += writePage(writer, column, levels, bodyOf(values, column.count), dictionary !== null);
  const encoding = dictionary ? ("RLE_DICTIONARY" as const) : ("PLAIN" as const);
  const pages = [{ page_type: "DATA_PAGE_V2" as const, encoding, count: 1 }];
  return {
    file_offset: BigInt(start),
    meta_data: {
      type: element.type ?? "BYTE_ARRAY",
      encodings: ["RLE", "PLAIN", ...(dictionary ? [encoding] : [])],
      path_in_schema: [element.name],
      codec: "ZSTD",
      num_values: BigInt(column.rows),
      total_uncompressed_size: BigInt(uncompressed),
      total_compressed_size: BigInt(writer.offset - start),
      data_page_offset: BigInt(pageStart),
      ...(dictionary ? { dictionary_page_offset: BigInt(start) } : {}),
      statistics: {
        null_count: BigInt(column.rows - column.count),
        min_value: values.min,
        max_value: values.max,
      },
      encoding_stats: dictionary
        ? [{ page_type: "DICTIONARY_PAGE", encoding: "PLAIN", count: 1 }, ...pages]
        : pages,
    },
  };
}

function bodyOf({ plain, dictionary }: Values, count: number): Uint8Array {
  if (!dictionary) return plain;
  const distinct = dictionary.of.firsts.length;
  const width = Math.max(1, bitWidthOf(distinct - 1));
  const runs = distinct === 1 ? repeated(0, width, count) : packed(dictionary.of.indexes, width, count);
  const body = new Uint8Array(runs.length + 1);
  body[0] = width;
  body.set(runs, 1);
  return body;
}

function levelsOf({ present, rows, count }: Column): Uint8Array {
  if (count === rows) return repeated(1, 1, rows);
  return count === 0 ? repeated(0, 1, rows) : packed(present, 1, rows);
}

function writeDictionary(writer: ByteWriter, plain: Uint8Array, distinct: number): number {
  const bytes = zstd(plain);
  const start = writer.offset;
  writePageHeader(writer, {
    type: "DICTIONARY_PAGE",
    uncompressed_page_size: plain.length,
    compressed_page_size: bytes.length,
    dictionary_page_header: { num_values: distinct, encoding: "PLAIN" },
  });
  const header = writer.offset - start;
  writer.appendBytes(bytes);
  release(bytes);
  return header + plain.length;
}

function writePage(
  writer: ByteWriter,
  column: Column,
  levels: Uint8Array,
  body: Uint8Array,
  isIndexed: boolean,
): number {
  const bytes = zstd(body);
  const start = writer.offset;
  writePageHeader(writer, {
    type: "DATA_PAGE_V2",
    uncompressed_page_size: levels.length + body.length,
    compressed_page_size: levels.length + bytes.length,
    data_page_header_v2: {
      num_values: column.rows,
      num_nulls: column.rows - column.count,
      num_rows: column.rows,
      encoding: isIndexed ? "RLE_DICTIONARY" : "PLAIN",
      definition_levels_byte_length: levels.length,
      repetition_levels_byte_length: 0,
      is_compressed: true,
    },
  });
  const header = writer.offset - start;
  writer.appendBytes(levels);
  writer.appendBytes(bytes);
  release(bytes);
  return header + levels.length + body.length;
}
