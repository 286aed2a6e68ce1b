import type { ErrorKind, ErrorOptions } from "../../base/errors.ts";
import type { ReportType } from "../../connector/report-view.ts";
import type { CellColumn } from "../columns/cells.ts";
import type { KeyRange } from "../columns/row-source.ts";
import type { Dialect } from "../csv/csv-writer.ts";
import type { RowGroup } from "../parquet/column-chunk.ts";
import type { ParquetFile } from "../parquet/footer.ts";
import type { NestedColumn } from "../parquet/parquet-types.ts";
import type { LaidOutPart, TablePlan } from "../plan/export-plan.ts";

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

/** One table to encode. With a setup, the first worker does all of it. */
export interface Job extends Pick<TablePlan, "setup" | "source"> {
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
  /** Opens a job in place of the last one. Returns the parts that the setup laid out; none without a setup. */
  open(job: Job): readonly LaidOutPart[];
  /** Encodes rows of the open job. @throws TypeOverflow */
  encode(range: KeyRange): EncodedRows;
}

/** One call on its way to a worker; calls are answered in their order. */
export interface WorkerRequest {
  readonly method: keyof WorkerCalls;
  readonly args: readonly unknown[];
}

/** The answer to a request; errors of the project's own classes are taken apart, as a message loses the class. */
export type WorkerReply =
  | { readonly kind: "result"; readonly value: unknown }
  | { readonly kind: "overflow"; readonly column: string; readonly type: ReportType }
  | {
      readonly kind: "refused";
      readonly errorKind: ErrorKind;
      readonly message: string;
      readonly options: ErrorOptions;
    }
  | { readonly kind: "broken"; readonly error: Error };
