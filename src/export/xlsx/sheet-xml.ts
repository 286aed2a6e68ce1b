import { columnName, numberCell, textCell } from "./cell-xml.ts";
import type { SheetColumn } from "./sheet-column.ts";
import { headStyle, labelStyle, sumStyle } from "./styles.ts";

/** A sheet of Excel holds 1,048,576 rows; this leaves room for the heading and totals. */
export const rowsPerSheet = 1_048_000;

/** A row of totals: its label, and by column the sum, as decimal digits. */
export interface TotalRow {
  readonly label: string;
  readonly sums: ReadonlyMap<number, string>;
}

/** Of sheets and workbooks. */
export const spreadsheetNamespace = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
/** Characters. */
const widths = { least: 9, most: 60 } as const;

/**
 * The sheet up to its rows: columns, and the frozen heading.
 *
 * @param lengths by column the length of its longest text
 */
export function sheetHead(columns: readonly SheetColumn[], lengths: readonly number[]): string {
  const cols = columns.map(({ name, kind }, at) => {
    const content =
      kind === "time"
        ? 19
        : kind === "date"
          ? 10
          : kind === "number"
            ? (lengths[at] ?? 0) + 4
            : (lengths[at] ?? 0);
    const width = Math.min(widths.most, Math.max(widths.least, content + 2, name.length + 4));
    return `<col min="${at + 1}" max="${at + 1}" width="${width}" customWidth="1"/>`;
  });
  const names = columns.map(({ name }, at) => textCell(`${columnName(at)}1`, headStyle, name));
  return `<worksheet xmlns="${spreadsheetNamespace}"><sheetPr><pageSetUpPr fitToPage="1"/></sheetPr><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/><selection pane="bottomLeft" activeCell="A2" sqref="A2"/></sheetView></sheetViews><cols>${cols.join("")}</cols><sheetData><row r="1">${names.join("")}</row>`;
}

/** The cells that the filter of a sheet with so many rows below its heading covers. */
export function filterRange(columns: readonly SheetColumn[], rows: number): string {
  return `$A$1:$${columnName(columns.length - 1)}$${rows + 1}`;
}

/** The sheet after its rows: totals below an empty row, and the filter. */
export function sheetFoot(
  columns: readonly SheetColumn[],
  rows: number,
  totals: readonly TotalRow[],
): string {
  const below = totals.map(({ label, sums }, at) => {
    const row = rows + 3 + at;
    const cells = [...sums].toSorted(([a], [b]) => a - b);
    const words = sums.has(0) ? "" : textCell(`A${row}`, labelStyle, label);
    return `<row r="${row}">${words}${cells.map(([column, sum]) => numberCell(`${columnName(column)}${row}`, sumStyle, sum)).join("")}</row>`;
  });
  const filter = filterRange(columns, rows).replaceAll("$", "");
  const texts = `A1:${columnName(columns.length - 1)}${rows + 1}`;
  return `${below.join("")}</sheetData><autoFilter ref="${filter}"/><pageMargins left="0.4" right="0.4" top="0.5" bottom="0.5" header="0.3" footer="0.3"/><pageSetup paperSize="9" orientation="landscape" fitToHeight="0"/><ignoredErrors><ignoredError sqref="${texts}" numberStoredAsText="1"/></ignoredErrors></worksheet>`;
}
