import type { CellColumn } from "../columns/cells.ts";
import type { Dialect } from "../csv/csv-writer.ts";
import type { RowGroup } from "../parquet/column-chunk.ts";
import type { NestedColumn } from "../parquet/nested.ts";
import type { ParquetColumn } from "../parquet/parquet-types.ts";
import type { KeyRange, RowSource } from "../columns/row-source.ts";

/** How a table's cells become bytes. */
export type Encoding =
  | { readonly kind: "csv"; readonly columns: readonly CellColumn[]; readonly dialect: Dialect }
  /** The one column is a record's JSON. */
  | { readonly kind: "records" }
  | { readonly kind: "objects"; readonly columns: readonly CellColumn[]; readonly endsInRecord: boolean }
  | {
      readonly kind: "parquet";
      readonly columns: readonly ParquetColumn[];
      readonly nested: readonly NestedSource[];
    };

/** Children of the rows that are read, by the parent's id, which is those rows' first column. */
export interface NestedSource extends NestedColumn {
  readonly table: string;
  readonly parentKey: string;
}

/** What a thread has to know before it can make pieces of a table. */
export interface Job {
  readonly id: number;
  /** Run once, on the connection of the one thread that then does the whole job. */
  readonly setup: readonly string[];
  readonly source: RowSource;
  readonly encoding: Encoding;
}

/** Some rows as bytes of their file. A row group's bytes are one part. */
export interface Made {
  readonly parts: readonly Uint8Array[];
  readonly groups: readonly RowGroup[];
  readonly rows: number;
}

/** Makes a table's bytes, range by range. */
export interface Encoder {
  make(range: KeyRange): Made;
}

/** What the thread that leads asks of another one; each is answered before the next. */
export type WorkerRequest =
  | { readonly kind: "begin" }
  | { readonly kind: "show"; readonly statements: readonly string[] }
  | { readonly kind: "open"; readonly job: Job }
  | { readonly kind: "ask"; readonly sql: string }
  | { readonly kind: "make"; readonly job: number; readonly range: KeyRange }
  | { readonly kind: "close"; readonly job: number };

/** Which state of the mirror a thread sees. */
export interface SnapshotId {
  readonly seq: number;
  readonly schemaVersion: number;
}

export type Reply =
  | { readonly kind: "done" }
  | ({ readonly kind: "began" } & SnapshotId)
  | { readonly kind: "told"; readonly rows: readonly unknown[][] }
  | ({ readonly kind: "made" } & Made)
  | { readonly kind: "misfit"; readonly column: string }
  | { readonly kind: "failed"; readonly failure: Failure };

/** An error on its way between threads. */
export interface Failure {
  readonly error: string;
  readonly message: string;
  readonly hint: string | undefined;
  readonly retryable: boolean;
  readonly stack: string | undefined;
}

export interface WorkerStart {
  /** The mirror's file. */
  readonly mirror: string;
}
