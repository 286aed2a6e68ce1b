import type { ReportType } from "../../connector/report-view.ts";
import type { ExportLanguage } from "../../connector/translation.ts";
import type { SnapshotColumn } from "../../store/snapshot/snapshot-tables.ts";

/** What the cells of a column are. A month is shown as one, and is its first day. */
export type SheetKind = "text" | "number" | "count" | "boolean" | "date" | "time" | "month";

export interface SheetColumn {
  readonly name: string;
  readonly kind: SheetKind;
}

const kinds: Readonly<Partial<Record<ReportType, SheetKind>>> = {
  TEXT: "text",
  INTEGER: "count",
  BOOLEAN: "boolean",
  DATE: "date",
  TIMESTAMP: "time",
};

/** The kind of a column. Ids, and what else identifies a thing, are text: nobody adds them up, and no digit is lost. */
export function sheetKind({ name, type, references, format }: SnapshotColumn): SheetKind {
  if (format === "month") return "month";
  const isId = format === "id" || references !== null || /(^|_)(id|symbol)$/.test(name);
  return type === "INTEGER" && isId ? "text" : (kinds[type] ?? "number");
}

/** The order of the cell formats in the styles' part. */
const order = [
  "plain",
  "head",
  "text",
  "number",
  "count",
  "boolean",
  "date",
  "time",
  "month",
  "sum",
  "label",
] as const;

/** The number of a cell format; `sum` and `label` are of a total, and of the words before it. */
export function styleOf(format: (typeof order)[number]): number {
  return order.indexOf(format);
}

/** Two decimals at least: amounts have two; prices, quantities and rates as many as they need. */
const decimals = "#,##0.00####";
const formats = { number: decimals, sum: decimals, count: "#,##0", month: "mm/yyyy" } as const;
const dateFormats: Readonly<Record<ExportLanguage, Readonly<Partial<Record<SheetKind, string>>>>> = {
  en: { date: "yyyy\\-mm\\-dd", time: "yyyy\\-mm\\-dd\\ hh:mm:ss" },
  sk: { date: "dd\\.mm\\.yyyy", time: "dd\\.mm\\.yyyy\\ hh:mm:ss" },
};
/** Numbers below are Excel's own formats. */
const firstOwnFormat = 164;
const textFormat = 49;

const bold: ReadonlySet<string> = new Set(["head", "sum", "label"]);

/** The part with the cell formats. */
export function stylesXml(language: ExportLanguage): string {
  const codes: Readonly<Record<string, string>> = { ...formats, ...dateFormats[language] };
  const own = Object.entries(codes).map(
    ([, code], at) => `<numFmt numFmtId="${firstOwnFormat + at}" formatCode="${code}"/>`,
  );
  const formatOf = (name: string) => {
    const at = Object.keys(codes).indexOf(name);
    if (at !== -1) return firstOwnFormat + at;
    return ["text", "head", "label"].includes(name) ? textFormat : 0;
  };
  const cells = order.map(
    (name) =>
      `<xf numFmtId="${formatOf(name)}" fontId="${bold.has(name) ? 1 : 0}" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1"/>`,
  );
  const font = '<sz val="11"/><name val="Calibri"/><family val="2"/>';
  return `<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><numFmts count="${own.length}">${own.join("")}</numFmts><fonts count="2"><font>${font}</font><font><b/>${font}</font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="${cells.length}">${cells.join("")}</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`;
}
