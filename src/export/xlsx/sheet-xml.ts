import { dayMs, isCalendarDay } from "../../base/clock.ts";
import { endOfCell, nullCell, asciiText, cellText, realText } from "../columns/cells.ts";
import { styleOf, type SheetColumn, type SheetKind } from "./styles.ts";

/** Excel takes no more UTF-16 units in a cell. */
const maxCellLength = 32_767;
/** Excel keeps so many digits of a number. */
const maxDigits = 15;

/** `A`, `B`, … `AA`: the name of a column, from 0. */
export function columnName(index: number): string {
  const rest = Math.floor(index / 26);
  return (rest > 0 ? columnName(rest - 1) : "") + String.fromCharCode(65 + (index % 26));
}

/** What XML cannot hold, and what Excel would read as an escape of it. */
const special = /[&<>\p{Cc}\ufffe\uffff]|_x(?=[0-9A-Fa-f]{4}_)/u;
const everySpecial = new RegExp(special.source, "gu");
const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  "\n": "\n",
  "\t": "\t",
  _x: "_x005F_x",
};

/** Text for an XML element. Control characters become Excel's `_x0001_`; a line break is a line feed. */
export function xmlText(text: string): string {
  if (!special.test(text)) return text;
  return text
    .replaceAll(/\r\n?/g, "\n")
    .replaceAll(
      everySpecial,
      (found) => entities[found] ?? `_x${found.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}_`,
    );
}

/** A cell with a text, which no spreadsheet runs. A text that is too long for Excel ends with `…`. */
function textCell(reference: string, style: number, text: string): string {
  const fitting = text.length > maxCellLength ? `${text.slice(0, maxCellLength - 1).toWellFormed()}…` : text;
  return `<c r="${reference}" s="${style}" t="inlineStr"><is><t xml:space="preserve">${xmlText(fitting)}</t></is></c>`;
}

/** A cell with a number, as its decimal digits; what is no number is a text. */
function numberCell(reference: string, style: number, digits: string): string {
  if (!/^-?\d+(\.\d+)?$/.test(digits)) return textCell(reference, styleOf("text"), digits);
  return `<c r="${reference}" s="${style}"><v>${digits}</v></c>`;
}

/** Excel counts days from here; earlier dates it does not know, as it takes 1900 for a leap year. */
const dayZeroMs = Date.UTC(1899, 11, 30);
const firstDayMs = Date.UTC(1900, 2, 1);

/** The number that Excel shows as a day, or as a time in the zone that the text is in; null for any other text. */
export function excelDate(text: string): number | null {
  const form = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?$/;
  const [, day = "", ...time] = form.exec(text) ?? [];
  const [hour = 0, minute = 0, second = 0] = time.map((part: string | undefined) => Number(part ?? 0));
  const atMs = isCalendarDay(day) ? Date.parse(day) : -Infinity;
  if (atMs < firstDayMs || hour > 23 || minute > 59 || second > 59) return null;
  return (atMs - dayZeroMs) / dayMs + (hour * 3600 + minute * 60 + second) / 86_400;
}

/** Creates a writer of rows as XML; the row before the first one of `cells` has the number `rowBefore`. */
export function createRowXml(
  columns: readonly SheetColumn[],
): (cells: Uint8Array, rowBefore: number) => Uint8Array {
  const names = columns.map((_, index) => columnName(index));
  return (cells: Uint8Array, rowBefore: number) => {
    const rows: Uint8Array[] = [];
    let row = rowBefore;
    for (let from = 0; from <= cells.length;) {
      let xml = `<row r="${++row}">`;
      for (const [index, column] of columns.entries()) {
        const end = endOfCell(cells, from);
        if (cells[from] !== nullCell) xml += cellXml(cells, from, end, column, `${names[index]}${row}`);
        from = end + 1;
      }
      // As bytes at once: texts of many rows outlive the young generation, and to collect them takes half of the time.
      rows.push(Buffer.from(`${xml}</row>`));
    }
    return Buffer.concat(rows);
  };
}

function cellXml(cells: Uint8Array, from: number, end: number, { kind }: SheetColumn, reference: string) {
  const style = styleOf(kind);
  switch (kind) {
    case "number":
      return numberCell(reference, style, realText(cells, from, end));
    case "count": {
      const digits = asciiText(cells, from, end);
      return digits.length > maxDigits
        ? textCell(reference, styleOf("text"), digits)
        : numberCell(reference, style, digits);
    }
    case "boolean":
      return `<c r="${reference}" s="${style}" t="b"><v>${cells[from] === 0x31 ? 1 : 0}</v></c>`;
    case "text":
    case "date":
    case "time":
    case "month": {
      const text = cellText(cells, from, end);
      const day = kind === "text" ? null : excelDate(kind === "month" ? `${text}-01` : text);
      return day === null
        ? textCell(reference, styleOf("text"), text)
        : numberCell(reference, style, String(day));
    }
    default:
      return kind satisfies never;
  }
}

/** A row of totals: its label, and by column the sum, as decimal digits. */
export interface TotalRow {
  readonly label: string;
  readonly sums: ReadonlyMap<number, string>;
}

/** Of sheets and workbooks. */
export const spreadsheetNamespace = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
/** Characters. */
const widths = { least: 9, most: 60 } as const;
const fixedWidths: Readonly<Partial<Record<SheetKind, number>>> = { time: 19, date: 10 };

/**
 * The sheet up to its rows: columns, and the frozen heading.
 *
 * @param lengths by column the length of its longest text
 */
export function sheetHead(columns: readonly SheetColumn[], lengths: readonly number[]): string {
  const cols = columns.map(({ name, kind }, at) => {
    const longest = lengths[at] ?? 0;
    const content = fixedWidths[kind] ?? (kind === "number" ? longest + 4 : longest);
    const width = Math.min(widths.most, Math.max(widths.least, content + 2, name.length + 4));
    return `<col min="${at + 1}" max="${at + 1}" width="${width}" customWidth="1"/>`;
  });
  const names = columns.map(({ name }, at) => textCell(`${columnName(at)}1`, styleOf("head"), name));
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
    const words = sums.has(0) ? "" : textCell(`A${row}`, styleOf("label"), label);
    return `<row r="${row}">${words}${cells.map(([column, sum]) => numberCell(`${columnName(column)}${row}`, styleOf("sum"), sum)).join("")}</row>`;
  });
  const filter = filterRange(columns, rows).replaceAll("$", "");
  const texts = `A1:${columnName(columns.length - 1)}${rows + 1}`;
  return `${below.join("")}</sheetData><autoFilter ref="${filter}"/><pageMargins left="0.4" right="0.4" top="0.5" bottom="0.5" header="0.3" footer="0.3"/><pageSetup paperSize="9" orientation="landscape" fitToHeight="0"/><ignoredErrors><ignoredError sqref="${texts}" numberStoredAsText="1"/></ignoredErrors></worksheet>`;
}
