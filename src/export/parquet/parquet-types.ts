import type { SchemaElement } from "hyparquet-writer";
import type { ReportType } from "../../connector/report-view.ts";

/** A column as a Parquet file has it. */
export interface ParquetColumn {
  readonly name: string;
  readonly type: ReportType;
  readonly nullable: boolean;
}

const wideDecimal = "DECIMAL(38,18)";

export function decimalOf(type: ReportType): { readonly precision: number; readonly scale: number } | null {
  const match = /^DECIMAL\((\d+),(\d+)\)$/.exec(type);
  return match ? { precision: Number(match[1]), scale: Number(match[2]) } : null;
}

/**
 * What a column becomes when one of its values does not fit its type: an amount first a wider DECIMAL, then,
 * past 38 digits, the number that it is; a date or time that is none, text. Null: everything fits it.
 */
export function widerType(type: ReportType): ReportType | null {
  if (type === "DATE" || type === "TIMESTAMP") return "TEXT";
  if (type === wideDecimal) return "REAL";
  return decimalOf(type) ? wideDecimal : null;
}

/** BIGINT, DOUBLE, VARCHAR, BOOLEAN, DATE, TIMESTAMP WITH TIME ZONE (UTC, microseconds), DECIMAL(p,s). */
export function schemaElement({ name, type, nullable }: ParquetColumn): SchemaElement {
  return { name, repetition_type: nullable ? "OPTIONAL" : "REQUIRED", ...elementOf(type) };
}

function elementOf(type: ReportType): Omit<SchemaElement, "name"> {
  switch (type) {
    case "INTEGER":
      return { type: "INT64" };
    case "REAL":
      return { type: "DOUBLE" };
    case "BOOLEAN":
      return { type: "BOOLEAN" };
    case "TEXT":
      return { type: "BYTE_ARRAY", converted_type: "UTF8", logical_type: { type: "STRING" } };
    case "DATE":
      return { type: "INT32", converted_type: "DATE", logical_type: { type: "DATE" } };
    case "TIMESTAMP":
      return {
        type: "INT64",
        converted_type: "TIMESTAMP_MICROS",
        logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MICROS" },
      };
    default:
      return decimalElement(type);
  }
}

function decimalElement(type: ReportType): Omit<SchemaElement, "name"> {
  const { precision, scale } = decimalOf(type) ?? { precision: 38, scale: 18 };
  const logical = { type: "DECIMAL", precision, scale } as const;
  const facts = { converted_type: "DECIMAL", precision, scale, logical_type: logical } as const;
  return precision <= 18
    ? { type: "INT64", ...facts }
    : { type: "FIXED_LEN_BYTE_ARRAY", type_length: 16, ...facts };
}
