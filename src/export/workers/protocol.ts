import type { ErrorKind } from "../../base/errors.ts";
import type { ReportType } from "../../connector/report-view.ts";
import type { CellColumn } from "../columns/cells.ts";
import type { KeyRange, RowSource } from "../columns/row-source.ts";
import type { Dialect } from "../csv/csv-writer.ts";
import type { RowGroup } from "../parquet/column-chunk.ts";
import type { ParquetFile } from "../parquet/footer.ts";
import type { NestedColumn } from "../parquet/parquet-types.ts";
import type { LaidOutPart } from "../plan/export-plan.ts";

/** How a table's cells become bytes of a file. */
export type Encoding =
  | { readonly kind: "csv"; readonly columns: readonly CellColumn[]; readonly dialect: Dialect }
  /** The one column is a record's JSON. */
  | { readonly kind: "records" }
  | { readonly kind: "objects"; readonly columns: readonly CellColumn[] }
  | (Omit<ParquetFile, "nested"> & { readonly kind: "parquet"; readonly nested: readonly NestedTable[] });

/** A child table, found by `parentKey`; the parents' id is the first column of the job's source. */
export interface NestedTable extends NestedColumn {
  readonly parentKey: string;
}

/** One table to encode. */
export interface Job {
  readonly id: number;
  /** Statements that lay out the rows. With any, the first worker does the whole job. */
  readonly setup: readonly string[];
  readonly source: RowSource;
  readonly encoding: Encoding;
}

/** Some rows as bytes of their file; with Parquet each part is a row group. */
export interface EncodedRows {
  readonly parts: readonly { readonly bytes: Uint8Array; readonly rowGroup: RowGroup | null }[];
  readonly rows: number;
}

/** Which state of the mirror a connection reads. */
export interface SnapshotId {
  readonly seq: number;
  readonly schemaVersion: number;
}

/** What the pool asks of a worker. */
export interface WorkerCalls {
  /** Begins a read transaction, after ending the last one. */
  begin(): SnapshotId;
  execute(statements: readonly string[]): void;
  /** Returns the parts that the setup laid out; none without a setup. */
  open(job: Job): readonly LaidOutPart[];
  /** @throws TypeOverflow */
  encode(job: number, range: KeyRange): EncodedRows;
  close(job: number): void;
}

/** One call on its way to a worker; calls are answered in their order. */
export interface WorkerRequest {
  readonly method: keyof WorkerCalls;
  readonly args: readonly unknown[];
}

/** The answer to a request. */
export type WorkerReply =
  | { readonly kind: "result"; readonly value: unknown }
  | { readonly kind: "overflow"; readonly column: string; readonly type: ReportType }
  | (Failure & { readonly kind: "failed" });

/** An error on its way between threads; `errorKind` is null if it is no MirrorError. */
export interface Failure {
  readonly errorKind: ErrorKind | null;
  readonly message: string;
  readonly hint: string | undefined;
  readonly retryable: boolean;
  readonly stack: string | undefined;
}
