import { isCalendarDay } from "../../base/clock.ts";
import { integerOf, NumberLiteral, type JsonValue } from "../../json/literal.ts";
import { snakeCase } from "../../base/names.ts";
import { onceFor } from "../../base/once-for.ts";
import type { Field, Fields, ScalarType } from "../../connector/record-schema.ts";
import type { Resource } from "../../connector/resource.ts";

/** `any`: a field the connector does not know; each value keeps its own type. */
export type ColumnScalar = ScalarType | "any";

/** A column, and the paths of its value in the record: the first that is not null counts. */
export interface Column {
  readonly name: string;
  readonly scalar: ColumnScalar;
  /** Of an unknown field: what its values were so far. */
  readonly seen?: SeenType;
  readonly paths: (readonly string[])[];
  readonly nullable: boolean;
  /** The table whose id this is. */
  readonly references: string | null;
  readonly doc: string | null;
  /** Values known today; others may come. */
  readonly values: readonly string[] | null;
}

/** A column that was added to a table that was laid out for another version of the connector, or for a field the connector does not know. */
export interface NewColumn {
  readonly table: string;
  readonly column: Column;
}

/**
 * One key of the records of a plan: the column that its value fills, and the keys below it. A record is decoded by
 * walking its own keys through this tree, which finds unknown keys on the way.
 */
export interface KeyNode {
  column: number;
  /** Is this the first of its column's paths? Its value counts, wherever in the record it stands. */
  readonly first: boolean;
  /** null: the value is not searched (a child table's array, a JSON column). */
  readonly below: Map<string, KeyNode> | null;
  /** Are keys that are not in `below` unknown? Not in a nested record: its own resource has them. */
  readonly open: boolean;
  /** The keys of the last object here and their nodes: most records have the keys of the one before. */
  memo: { readonly keys: readonly string[]; readonly nodes: readonly (KeyNode | undefined)[] } | null;
}

/** The columns of one table, and the tree of keys that fills them. */
export interface RowPlan {
  readonly columns: Column[];
  readonly root: KeyNode;
}

/** The table of a record's parts, such as its lines. */
export interface ChildPlan extends RowPlan {
  readonly field: string;
  readonly table: string;
  readonly parentKey: string;
}

/** How a record becomes rows: from the connector's fields, and from fields that were added as unknown. */
export interface TablePlan extends RowPlan {
  readonly table: string;
  readonly children: readonly ChildPlan[];
  readonly owned: readonly { readonly field: string; readonly resource: string }[];
  /** Columns by which the records of one owner or parent are found. */
  readonly indexes: readonly (readonly string[])[];
}

/** The types of columns in the mirror, whose tables are STRICT. */
export const sqlTypes: Readonly<Record<ColumnScalar, string>> = {
  integer: "INTEGER",
  boolean: "INTEGER",
  decimal: "REAL",
  text: "TEXT",
  date: "TEXT",
  timestamp: "TEXT",
  json: "TEXT",
  any: "ANY",
};

/** The plan of a resource without unknown columns. Pure. */
export function planTable(resource: Resource): TablePlan {
  const children: ChildPlan[] = [];
  const owned: { field: string; resource: string }[] = [];
  for (const [name, field] of Object.entries(resource.fields)) {
    if (field.shape === "owned") owned.push({ field: name, resource: field.resource });
    if (field.shape !== "children") continue;
    const rows = planRow(field.fields);
    children.push({ ...rows, field: name, table: field.table, parentKey: `${resource.singular}_id` });
  }
  return { ...planRow(resource.fields), table: resource.name, children, owned, indexes: indexesOf(resource) };
}

/** The same for all mirrors of a process, to be read only: a plan that gets columns of its own is made anew. */
export const knownPlan = onceFor(planTable);

export const knownRow = onceFor(planRow);

function indexesOf({ list, lookedUpBy }: Resource): string[][] {
  const columns = lookedUpBy ? [[...lookedUpBy]] : [];
  if (list.kind === "parents") columns.push(...list.parents.map(({ field }) => [snakeCase(field)]));
  if (list.kind !== "owned") return columns;
  const pairs = list.by.map(({ typeField, idField }) => `${snakeCase(typeField)} ${snakeCase(idField)}`);
  return [...columns, ...[...new Set(pairs)].map((pair) => pair.split(" "))];
}

/** The columns of scalar, lookup and snapshot fields, in their order. Pure. */
export function planRow(fields: Fields): RowPlan {
  const plan: RowPlan = { columns: [], root: keyNode(new Map()) };
  addFields(plan, plan.root, fields, [], false);
  return plan;
}

export function keyNode(below: Map<string, KeyNode> | null, column = -1, open = true, first = true): KeyNode {
  return { column, first, below, open, memo: null };
}

function addFields(plan: RowPlan, node: KeyNode, fields: Fields, path: readonly string[], nullable: boolean) {
  for (const [name, field] of Object.entries(fields)) {
    const at = [...path, name];
    if (field.shape === "snapshot") {
      const inner = keyNode(new Map());
      node.below?.set(name, inner);
      addFields(plan, inner, field.fields, at, nullable || field.nullable);
      continue;
    }
    const column = columnOf(field, at, nullable || field.nullable);
    const index = column ? mergeColumn(plan.columns, column) : -1;
    const leaf = keyNode(null, index, true, (plan.columns[index]?.paths.length ?? 1) === 1);
    const lookup = field.shape === "lookup" ? keyNode(new Map([["id", leaf]]), -1, false) : null;
    node.below?.set(name, lookup ?? leaf);
  }
}

function columnOf(field: Field, path: readonly string[], nullable: boolean): Column | null {
  const name = path.map(snakeCase).join("_");
  const { doc = null } = field;
  if (field.shape === "lookup") {
    const paths = [[...path, "id"]];
    const { resource: references } = field;
    return { name: `${name}_id`, scalar: "integer", paths, nullable, references, doc, values: null };
  }
  if (field.shape !== "scalar") return null;
  const { type: scalar, references = null, values = null } = field;
  return { name, scalar, paths: [path], nullable, references, doc, values };
}

/** Adds a column and returns its index; `countryId` and `country.id` are one column. */
function mergeColumn(columns: Column[], column: Column): number {
  const i = columns.findIndex((other) => other.name === column.name);
  const twin = columns[i];
  if (!twin) return columns.push(column) - 1;
  columns[i] = {
    ...twin,
    paths: [...twin.paths, ...column.paths],
    nullable: twin.nullable && column.nullable,
    references: twin.references ?? column.references,
    doc: twin.doc ?? column.doc,
    values: twin.values ?? column.values,
  };
  return i;
}

/** The type of all values that an unknown field has had; null: it had none yet. */
export type SeenType = ScalarType | null;

/** Each holds the values of those before it. */
const numberTypes: readonly ScalarType[] = ["boolean", "integer", "decimal"];

/** The type of what was seen so far and of one value more. It only widens: at last to text, which holds every value. */
export function seenTypeWith(seen: SeenType, value: JsonValue): SeenType {
  if (seen === "text" || value === null) return seen;
  const type = typeIn(value);
  if (seen === null || seen === type) return type;
  const [one, other] = [numberTypes.indexOf(seen), numberTypes.indexOf(type)];
  return one < 0 || other < 0 ? "text" : (numberTypes[Math.max(one, other)] ?? "text");
}

/** By the JSON itself: the text "007" is no number, and a number that a double would change is kept as text. */
function typeIn(value: Exclude<JsonValue, null>): ScalarType {
  if (typeof value === "boolean") return "boolean";
  if (integerOf(value) !== null) return "integer";
  if (typeof value === "number") return "decimal";
  if (value instanceof NumberLiteral) return "text";
  if (typeof value !== "string") return "json";
  const [, day = "", time] =
    /^(\d{4}-\d\d-\d\d)([T ]\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:?\d\d)?)?$/.exec(value) ?? [];
  if (!isCalendarDay(day)) return "text";
  if (time === undefined) return "date";
  return Number.isNaN(Date.parse(`${day}T${time.slice(1)}`)) ? "text" : "timestamp";
}
