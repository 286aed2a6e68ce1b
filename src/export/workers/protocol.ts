import type { MirrorError } from "../../base/errors.ts";
import type { ThreadReply } from "../../base/threads/thread-reply.ts";
import type { Db } from "../../store/database.ts";
import type { Redaction } from "../../store/snapshot/redacted-records.ts";
import type { CellColumn } from "../columns/cells.ts";
import type { KeyRange } from "../columns/row-source.ts";
import type { Dialect } from "../csv/csv-writer.ts";
import type { RowGroup } from "../parquet/column-chunk.ts";
import type { ParquetFile } from "../parquet/footer.ts";
import type { NestedColumn, TypeOverflow } from "../parquet/parquet-types.ts";
import type { SheetColumn } from "../xlsx/sheet-column.ts";
import type { LaidOutPart, TablePlan } from "../plan/export-plan.ts";

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

/** What the pool asks of a worker. */
export interface WorkerCalls {
  /** Begins a read transaction, after ending the last one. Returns its `stateOf`. */
  begin(): string;
  execute(statements: readonly string[]): void;
  /** Makes the functions that redact. Without this call none are needed. */
  redact(redaction: Redaction): void;
  /** Opens a job in place of the last one. Returns the parts that the setup laid out; none without a setup. */
  open(job: Job): readonly LaidOutPart[];
  /** The rows of a query on what the job laid out. */
  query(sql: string): readonly (readonly unknown[])[];
  /** Encodes rows of the open job. @throws TypeOverflow */
  encode(range: KeyRange): EncodedRows;
}

/** One call on its way to a worker; calls are answered in their order. */
export interface WorkerRequest {
  readonly method: keyof WorkerCalls;
  readonly args: readonly unknown[];
}

/** The answer to a request. */
export type WorkerReply = ThreadReply<unknown, MirrorError & TypeOverflow>;
