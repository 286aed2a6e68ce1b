import type { ReportView } from "./report-view.ts";
import type { Language } from "./translation.ts";

/** What the accountant gets of a month: a workbook, the documents' PDFs and a text. */
export interface MonthPackage {
  /** Of the headings and the text. */
  readonly language: Language;
  /**
   * Its sheets. They see the report's tables and views, its date being the last day of the month, and are limited to the
   * month by their date. They are no part of the report.
   */
  readonly sheets: readonly ReportView[];
  /** Resources whose PDFs belong to it: those of the month by the date that their files go by. */
  readonly documents: readonly string[];
  /** The text beside it. */
  readonly text: MonthText;
}

/** Lines with `{company}`, `{month}`, `{workbook}`, `{from}`, `{to}`, `{pdfs}` and `{names}`. */
export interface MonthText {
  /** Its file. */
  readonly name: string;
  readonly lines: readonly string[];
  /** Before the names of documents without a PDF. */
  readonly withoutPdf: string;
  /** Where details of documents are still to be read. */
  readonly incomplete: string;
}
