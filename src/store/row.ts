import { NumberLiteral, type JsonObject, type JsonValue } from "../json/literal.ts";
import type { Column, Known, RowPlan, TablePlan } from "./columns.ts";
import { cellValue } from "./values.ts";

export type Cell = number | bigint | string | null;

/** A key the plan does not know: where it stands and in which table its column belongs. */
export interface UnknownKey {
  readonly plan: RowPlan;
  readonly path: readonly string[];
}

/** A record, cut to the table's columns. */
export interface Row {
  readonly cells: Cell[];
  /** For each child plan, the cells of each of its rows, in order. */
  readonly children: readonly (readonly Cell[][])[];
  readonly unknown: readonly UnknownKey[];
  /** Required fields that the record lacks, as dotted paths. */
  readonly missing: readonly string[];
}

/** A value that its column cannot hold: the record is quarantined with this reason. */
export class OddValue extends Error {}

/** Pure: the same plan and record give the same row. Throws OddValue. */
export function toRow(plan: TablePlan, record: JsonObject): Row {
  const unknown: UnknownKey[] = [];
  const missing: string[] = [];
  findUnknown(plan, plan.known, record, [], unknown);
  const cells = cellsOf(plan, record, missing);
  const children = plan.children.map((child) => {
    const parts = partsOf(record, child.field, missing);
    return parts.map((part) => {
      findUnknown(child, child.known, part, [], unknown);
      return cellsOf(child, part, missing, child.field);
    });
  });
  return { cells, children, unknown, missing };
}

/** The cells of one object; `undefined` input fields are null cells. */
export function cellsOf(plan: RowPlan, record: JsonObject, missing?: string[], prefix = ""): Cell[] {
  return plan.columns.map((column) => {
    const cell = cellOf(column, record);
    if (cell === null && !column.nullable && missing && !isPresent(column, record)) {
      missing.push([...(prefix ? [prefix] : []), ...(column.paths[0] ?? [])].join("."));
    }
    return cell;
  });
}

export function cellOf(column: Column, record: JsonObject): Cell {
  for (const path of column.paths) {
    const value = valueAt(record, path);
    const cell = cellValue(column.scalar, value);
    if (cell === undefined) throw new OddValue(`${path.join(".")} is ${describe(value)}, not ${column.scalar}`);
    if (cell !== null) return cell;
  }
  return null;
}

function valueAt(record: JsonObject, path: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = record;
  for (const key of path) {
    if (value === null || value === undefined) return value;
    if (!isObject(value)) throw new OddValue(`${path.join(".")} cannot be read: its parent is ${describe(value)}`);
    value = own(value, key);
  }
  return value;
}

function isPresent(column: Column, record: JsonObject): boolean {
  return column.paths.some((path) => {
    const top = path[0];
    return top !== undefined && Object.hasOwn(record, top);
  });
}

function partsOf(record: JsonObject, field: string, missing: string[]): JsonObject[] {
  const value = own(record, field);
  if (value === undefined) missing.push(field);
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new OddValue(`${field} is ${describe(value)}, not a list`);
  return value.map((part, position) => {
    if (!isObject(part)) throw new OddValue(`${field}[${position}] is ${describe(part)}, not an object`);
    return part;
  });
}

function findUnknown(
  plan: RowPlan,
  known: Known,
  object: JsonObject,
  path: readonly string[],
  found: UnknownKey[],
): void {
  for (const key of Object.keys(object)) {
    const below = known.keys.get(key);
    if (below === undefined) found.push({ plan, path: [...path, key] });
    else if (below !== null) {
      const value = own(object, key);
      if (isObject(value)) findUnknown(plan, below, value, [...path, key], found);
    }
  }
}

export function own(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof NumberLiteral)
  );
}

function describe(value: JsonValue | undefined): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "string") return `text (${JSON.stringify(value.slice(0, 40))})`;
  return isObject(value) ? "an object" : `${typeof value} ${String(value)}`;
}
