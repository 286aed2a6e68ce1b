import type { Db } from "../../store/database.ts";
import type { CellColumn } from "../columns/cells.ts";
import type { Dialect } from "../csv/csv-writer.ts";
import type { NestedColumn, ParquetFile, RowGroup } from "../parquet/parquet-types.ts";
import type { SheetColumn } from "../xlsx/styles.ts";
import type { TablePlan } from "../plan/export-plan.ts";

/** How a table's cells become bytes of a file. */
export type Encoding =
  | { readonly kind: "csv"; readonly columns: readonly CellColumn[]; readonly dialect: Dialect }
  /** The one column is a record's JSON. */
  | { readonly kind: "records" }
  | { readonly kind: "sheet"; readonly columns: readonly SheetColumn[]; readonly rowsEach: number }
  | { readonly kind: "objects"; readonly columns: readonly CellColumn[] }
  | (Omit<ParquetFile, "nested"> & { readonly kind: "parquet"; readonly nested: readonly NestedTable[] });

/** A child table, found by `parentKey`; the parents' id is the first column of the job's source. */
export interface NestedTable extends NestedColumn {
  readonly parentKey: string;
}

/** One table to encode. With a setup, the first worker does all of it. */
export interface Job extends Pick<TablePlan, "setup" | "source"> {
  readonly encoding: Encoding;
}

/** Some rows as bytes of their file; with Parquet each part is a row group. */
export interface EncodedRows {
  readonly parts: readonly { readonly bytes: Uint8Array; readonly rowGroup: RowGroup | null }[];
  readonly rows: number;
}

/** Which state of the mirror a connection reads: its last change, and the version of its schema. */
export function stateOf(db: Db): string {
  const seq = db.prepare("SELECT coalesce(max(seq), 0) FROM main._change_log").pluck().get();
  return `${String(seq)} ${String(db.pragma("main.schema_version", { simple: true }))}`;
}
