import type { ExportLanguage } from "./translation.ts";

export type ReportType =
  "INTEGER" | "TEXT" | "REAL" | "BOOLEAN" | "DATE" | "TIMESTAMP" | `DECIMAL(${number},${number})`;

export interface ReportViewColumn {
  readonly name: string;
  readonly type: ReportType;
  readonly doc: string;
  readonly values?: readonly string[];
  /** What a spreadsheet shows it as, where the type does not say it: a number that identifies, a text `YYYY-MM`. */
  readonly format?: "id" | "month";
  /** Workbooks add it up: for each value of the column `per`, or with null over all rows. */
  readonly total?: { readonly per: string | null };
}

/**
 * A view of the report. Its SQL sees the report's tables: live rows without own columns; `_about` has the
 * report's date. It uses nothing younger than SQLite 3.25, for old readers.
 */
export interface ReportView {
  readonly name: string;
  readonly title: string;
  readonly question: string;
  /** The rule by which it answers: what counts, and what does not. */
  readonly doc: string;
  readonly columns: readonly ReportViewColumn[];
  readonly sql: string;
  /** The column with the day or month that a row belongs to; absent: the view shows the state of the report's date. */
  readonly date?: string;
  readonly facets?: readonly string[];
  readonly sort?: { readonly column: string; readonly descending: boolean };
}

/** Names that a view's SQL reads, behind FROM and JOIN, those of views that it reads included. */
export function namesReadBy({ sql }: ReportView, views: readonly ReportView[]): string[] {
  return [...sql.matchAll(/\b(?:FROM|JOIN) (\w+)/g)].flatMap(([, name = ""]) => {
    const view = views.find((one) => one.name === name);
    return view ? namesReadBy(view, views) : [name];
  });
}

/** A question that people ask of the report, with the query that answers it. Its SQL sees the report's tables and views. */
export interface ReportQuestion {
  readonly name: string;
  readonly title: string;
  readonly doc: string;
  /** `:name` is a value that the reader gives. */
  readonly sql: string;
  /** What `status` of one company says of the answer's only row; null: nothing. */
  readonly inStatus?: (row: Readonly<Record<string, string | number | null>>) => string | null;
}

export type ChangeSheet = Omit<ReportView, "sql">;

/** What the accountant gets of a month: a workbook, the documents' PDFs and a text. */
export interface MonthPackage {
  readonly language: ExportLanguage;
  /**
   * Its sheets. They see the report's tables and views, its date being the last day of the month, and are limited to the
   * month by their date. They are no part of the report.
   */
  readonly sheets: readonly ReportView[];
  /** How the package of a month that was handed over shows what changed since. */
  readonly changes: {
    /** Resources of the sheets that list documents; the SQL of these gives the record's `id`, too. */
    readonly documents: Readonly<Record<string, string>>;
    /** The sheet of VAT: rows that changed are to be corrected, by document and rate. */
    readonly vat: string;
    /** The sheets of changes and of corrections; their rows are made of what changed. */
    readonly sheets: { readonly changed: ChangeSheet; readonly corrected: ChangeSheet };
  };
  /** Resources whose PDFs belong to it: those of the month by the date that their files go by. */
  readonly documents: readonly string[];
  /** Query parameters that limit the lists of these documents to days. */
  readonly days: { readonly from: string; readonly to: string };
  /** The text beside it, a file: lines with `{company}`, `{month}`, `{workbook}`, `{from}`, `{to}`, `{pdfs}` and `{names}`. */
  readonly text: {
    readonly name: string;
    readonly lines: readonly string[];
    /** Before the names of documents that changed since the hand-over of day `{since}`. */
    readonly changed: string;
    /** Before the names of documents without a PDF. */
    readonly withoutPdf: string;
    /** Before the names of tables that are not read whole. */
    readonly incomplete: string;
  };
  /**
   * What the text and the first sheet of a proved month say: headings with values, first the `{month}`, of it,
   * `{compared}`, `{equal}`, `{finished_at}`, `{version}`, `{log}` and `{position}`.
   */
  readonly certificate: { readonly title: string; readonly facts: Readonly<Record<string, string>> };
}
