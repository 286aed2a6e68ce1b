import type { ReportType } from "../../connector/report-view.ts";
import type { SnapshotColumn } from "../../store/snapshot/snapshot-tables.ts";

/** What the cells of a column are. A month is shown as one, and is its first day. */
export type SheetKind = "text" | "number" | "count" | "boolean" | "date" | "time" | "month";

export interface SheetColumn {
  /** Its heading. */
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
