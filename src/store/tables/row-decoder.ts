import { isObject, integerOf, numberLiteral, NumberLiteral, stringifyLossless } from "../../json/literal.ts";
import type { JsonObject, JsonValue } from "../../json/literal.ts";
import { seenTypeWith } from "./table-plan.ts";
import type { Column, KeyNode, RowPlan, TablePlan, ColumnScalar } from "./table-plan.ts";

export type Cell = number | bigint | string | null;

/** A key that the plan does not know, or not with values of this type, and the plan whose table has its column. */
export interface UnknownKey {
  readonly plan: RowPlan;
  readonly path: readonly string[];
  readonly value: JsonValue;
}

export interface Row {
  readonly cells: Cell[];
  /** For each child plan, the cells of each of its rows, in order. */
  readonly children: readonly (readonly Cell[][])[];
  readonly unknown: readonly UnknownKey[];
  /** Required fields that the record lacks, as dotted paths. */
  readonly missing: readonly string[];
}

/**
 * Version of the code that makes cells of JSON: this file. Raise it when they decode any value
 * otherwise, so that the rows of existing mirrors are derived again.
 */
export const decodingVersion = 1;

/** A known key whose value is of another type than its column, and the value's type in JSON. */
export interface OddType {
  readonly key: UnknownKey;
  readonly type: string;
}

/** A value that its column cannot hold; the record is quarantined with the message as its reason. */
export class OddValue extends Error {
  /** Null: it is not about the type of one key. */
  readonly odd: OddType | null;

  constructor(message: string, odd: OddType | null = null) {
    super(message);
    this.odd = odd;
  }
}

function oddValue(plan: RowPlan, path: readonly string[], value: JsonValue, wanted: string): OddValue {
  const odd = { key: { plan, path, value }, type: typeName(value) };
  return new OddValue(`${path.join(".")} is ${describe(value)}, not ${wanted}`, odd);
}

/** Decodes a record: the same plan and record give the same row. Throws OddValue. */
export function toRow(plan: TablePlan, record: JsonObject): Row {
  const unknown: UnknownKey[] = [];
  const missing: string[] = [];
  const decode = (rows: RowPlan, object: JsonObject, prefix: readonly string[]) => {
    const cells = cellsOf(rows, object, unknown);
    for (let i = 0; i < rows.columns.length; i++) {
      const column = rows.columns[i] as Column;
      if (cells[i] !== null || column.nullable || isPresent(column, object)) continue;
      missing.push([...prefix, ...(column.paths[0] ?? [])].join("."));
    }
    return cells;
  };
  const cells = decode(plan, record, []);
  const children = plan.children.map((child) =>
    partsOf(plan, record, child.field, missing).map((part) => decode(child, part, [child.field])),
  );
  return { cells, children, unknown, missing };
}

export function nullIfOdd<T>(step: () => T): T | null {
  try {
    return step();
  } catch (error) {
    if (error instanceof OddValue) return null;
    throw error;
  }
}

/** The cells of one object in the order of the plan's columns. Adds unknown keys to `unknown`. Throws OddValue. */
export function cellsOf(plan: RowPlan, record: JsonObject, unknown?: UnknownKey[]): Cell[] {
  const cells: Cell[] = [];
  for (let i = 0; i < plan.columns.length; i++) cells.push(null);
  fill({ plan, cells, unknown }, plan.root, record, []);
  return cells;
}

interface Decoding {
  readonly plan: RowPlan;
  readonly cells: Cell[];
  readonly unknown: UnknownKey[] | undefined;
}

function fill(into: Decoding, node: KeyNode, object: JsonObject, path: readonly string[]): void {
  const { plan, cells, unknown } = into;
  const keys = Object.keys(object);
  const nodes = nodesOf(node, keys);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string;
    const at = nodes[i];
    const value = object[key] as JsonValue;
    if (at === undefined) {
      if (node.open) unknown?.push({ plan, path: [...path, key], value });
      continue;
    }
    if (value === null) continue;
    if (at.column >= 0) {
      const { scalar, seen } = plan.columns[at.column] as Column;
      const cell = cellValue(scalar, value);
      if (cell === undefined) throw oddValue(plan, [...path, key], value, scalar);
      if (seen !== undefined && seenTypeWith(seen, value) !== seen)
        unknown?.push({ plan, path: [...path, key], value });
      if (at.first || cells[at.column] === null) cells[at.column] = cell;
    } else if (at.below) {
      // PHP sends an empty map as `[]`.
      if (Array.isArray(value) && value.length === 0) continue;
      if (!isObject(value)) throw oddValue(plan, [...path, key], value, "an object");
      fill(into, at, value, [...path, key]);
    }
  }
}

/** The nodes of these keys; remembered, because the records of a list mostly have the same keys in the same order. */
function nodesOf(node: KeyNode, keys: readonly string[]): readonly (KeyNode | undefined)[] {
  if (node.memo && sameKeys(node.memo.keys, keys)) return node.memo.nodes;
  const nodes = keys.map((key) => node.below?.get(key));
  node.memo = { keys, nodes };
  return nodes;
}

function sameKeys(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Does the record have the top key of one of the column's paths? */
export function isPresent(column: Column, record: JsonObject): boolean {
  return column.paths.some((path) => Object.hasOwn(record, path[0] ?? ""));
}

function partsOf(plan: RowPlan, record: JsonObject, field: string, missing: string[]): JsonObject[] {
  const value = Object.hasOwn(record, field) ? record[field] : undefined;
  if (value === undefined) missing.push(field);
  if (value === undefined || value === null) return [];
  if (isObject(value) && Object.keys(value).length === 0) return [];
  if (!Array.isArray(value)) throw oddValue(plan, [field], value, "a list");
  return value.map((part, position) => {
    if (!isObject(part)) throw new OddValue(`${field}[${position}] is ${describe(part)}, not an object`);
    return part;
  });
}

function describe(value: JsonValue): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "string") return `text (${JSON.stringify(value.slice(0, 40))})`;
  return isObject(value) ? "an object" : `${typeName(value)} ${String(value)}`;
}

function typeName(value: JsonValue): string {
  if (typeof value === "string") return "text";
  if (typeof value === "boolean") return "boolean";
  if (Array.isArray(value)) return "list";
  return isObject(value) ? "object" : "number";
}

/** A value that the column can hold; undefined: it cannot. */
type CellValue = Cell | undefined;

/** A column's cell for a value of the service. PHP's numbers as text, and truth as 0 and 1, become the column's type. */
export function cellValue(scalar: ColumnScalar, value: JsonValue | undefined): CellValue {
  return value === null || value === undefined ? null : readers[scalar](value);
}

const readers: Readonly<Record<ColumnScalar, (value: JsonValue) => CellValue>> = {
  integer: (value) => integerOf(numberIn(value)) ?? undefined,
  decimal: (value) => {
    const number = numberIn(value);
    const double = number instanceof NumberLiteral ? Number(number.text) : number;
    return Number.isFinite(double) ? double : undefined;
  },
  boolean: (value) => {
    const number = typeof value === "boolean" ? Number(value) : numberIn(value);
    return number === 0 || number === 1 ? number : undefined;
  },
  text: textCell,
  date: textCell,
  /** `2026-03-01 12:00:00` -> `2026-03-01T12:00:00`: ISO, without a zone, because the service names none. */
  timestamp: (value) =>
    typeof value === "string"
      ? value.replace(/^(\d{4}-\d\d-\d\d) (?=\d\d:\d\d)/, "$1T").toWellFormed()
      : undefined,
  json: stringifyLossless,
  any: anyCell,
};

/** The number that a value is or spells; undefined for any other. */
function numberIn(value: JsonValue): number | NumberLiteral | undefined {
  if (typeof value === "number" || value instanceof NumberLiteral) return value;
  const isNumber = typeof value === "string" && /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(value);
  return isNumber ? numberLiteral(value) : undefined;
}

/** SQLite stores half a surrogate pair as U+FFFD, so it is compared as that. */
function textCell(value: JsonValue): CellValue {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value === "number" || value instanceof NumberLiteral) return stringifyLossless(value);
  return undefined;
}

/** Integers are bound as bigint: SQLite would otherwise keep them as REAL in an ANY column. */
function anyCell(value: JsonValue): CellValue {
  if (typeof value === "number" || value instanceof NumberLiteral) {
    const whole = integerOf(value);
    if (whole !== null) return BigInt(whole);
    return typeof value === "number" ? value : value.text;
  }
  if (typeof value === "boolean") return BigInt(value);
  if (typeof value === "string") return value.toWellFormed();
  return stringifyLossless(value);
}
