/** A column's type as reports and exports declare it. */
export type ReportType =
  "INTEGER" | "TEXT" | "REAL" | "BOOLEAN" | "DATE" | "TIMESTAMP" | `DECIMAL(${number},${number})`;

export interface ReportViewColumn {
  readonly name: string;
  readonly type: ReportType;
  readonly doc: string;
}

/**
 * A question asked so often that reports answer it by name. The SQL is written over the tables' plain names,
 * whose rows are live and have no own columns; `_about` tells the report's date. Old readers run it, too:
 * no function or syntax younger than SQLite 3.25.
 */
export interface ReportView {
  /** `v_` and a plural. */
  readonly name: string;
  readonly title: string;
  readonly doc: string;
  readonly columns: readonly ReportViewColumn[];
  readonly sql: string;
  /** Columns that people filter by first. */
  readonly facets?: readonly string[];
  /** The column that its rows are best read by, and whether from its end. */
  readonly sort?: { readonly column: string; readonly descending: boolean };
}
