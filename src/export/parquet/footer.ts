import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import type { RowGroup } from "./column-chunk.ts";
import type { NestedColumn } from "./nested.ts";
import type { ParquetColumn } from "./parquet-types.ts";
import { fileSchema } from "./schema.ts";

export const parquetHead = Buffer.from("PAR1");

export interface FileFacts {
  readonly columns: readonly ParquetColumn[];
  readonly nested: readonly NestedColumn[];
  readonly groups: readonly RowGroup[];
  readonly facts: Readonly<Record<string, string>>;
  readonly createdBy: string;
}

/** What stands after the last row group; the groups' offsets are those in the file already. */
export function parquetFooter({ columns, nested, groups, facts, createdBy }: FileFacts): Uint8Array {
  const writer = new ByteWriter();
  const kvMetadata = Object.entries(facts).map(([key, value]) => ({ key, value }));
  const parquet = new ParquetWriter({ writer, schema: fileSchema(columns, nested), kvMetadata, createdBy });
  parquet.row_groups.push(...groups);
  parquet.num_rows = groups.reduce((sum, group) => sum + group.num_rows, 0n);
  void parquet.finish();
  return writer.getBytes().slice(parquetHead.length);
}
