import type { RecordId } from "../../base/ids.ts";
import { snakeCase } from "../../base/names.ts";
import type { Resource } from "../../connector/resource.ts";
import type { Db } from "../database.ts";
import { parseStored, hasRow, insertRow, selectRows, updateRows } from "../own-tables/statement.ts";
import type { OddType, UnknownKey } from "./row-decoder.ts";
import { keyNode, knownPlan, planTable, seenTypeWith } from "./table-plan.ts";
import type { Column, KeyNode, NewColumn, RowPlan, TablePlan, SeenType } from "./table-plan.ts";
import { addColumn, columnNames } from "./table-layout.ts";

/** More unknown fields than this in one table are noise: they stay in `_raw`, and are reported. */
export const mostNewColumns = 200;

/** A record that is the first to show something, and when it was received, ISO. */
interface FirstRecord {
  readonly id: RecordId;
  readonly at: string;
}

/**
 * Adds a column for each unknown field to the plan and the database, and widens the type of those that have one (I12).
 * Table `_schema_changes` remembers both for the next opening. Returns the new columns.
 */
export function addUnknownColumns(
  db: Db,
  plan: TablePlan,
  unknown: readonly UnknownKey[],
  first: FirstRecord,
): NewColumn[] {
  return unknown.flatMap(({ plan: rows, path, value }) => {
    const table = tableOf(plan, rows);
    const known = unknownColumn(rows, path);
    if (known) {
      widen(db, rows, known, { table, name: path.join("."), path, value }, first);
      return [];
    }
    const added = rows.columns.filter((column) => column.scalar === "any");
    if (isKnown(rows.root, path) || added.length >= mostNewColumns) return [];
    const seen = seenTypeWith(null, value);
    const column = adopt(rows, path, freeName(rows, path, columnNames(db, table)), seen);
    addColumn(db, table, column);
    noteSchemaChange(db, { table, name: column.name, path, what: "added", seen }, first);
    return [{ table, column }];
  });
}

export function noteOddType(db: Db, plan: TablePlan, { key, type }: OddType, first: FirstRecord): void {
  const change = { table: tableOf(plan, key.plan), name: key.path.join("."), path: key.path, what: type };
  noteSchemaChange(db, change, first);
}

/** A row of `_schema_changes`. `what`: `added`, or the type of JSON that came instead. */
interface NotedChange {
  readonly table: string;
  readonly name: string;
  readonly path: readonly string[];
  readonly what: string;
  readonly seen?: SeenType;
}

/** Later records that show the same write nothing. */
function noteSchemaChange(
  db: Db,
  { table, name, path, what, seen = null }: NotedChange,
  { id, at }: FirstRecord,
): void {
  const change = { table_name: table, path: JSON.stringify(path), what };
  if (hasRow(db, "_schema_changes", change)) return;
  insertRow(db, "_schema_changes", { ...change, column_name: name, at, record_id: id, type: seen });
}

/** A type that only nulls came before is no change of it. */
function widen(
  db: Db,
  rows: RowPlan,
  column: Column,
  { value, ...place }: Omit<NotedChange, "what"> & Pick<UnknownKey, "value">,
  first: FirstRecord,
): void {
  const seen = seenTypeWith(column.seen ?? null, value);
  if (seen === null || seen === column.seen) return;
  rows.columns[rows.columns.indexOf(column)] = { ...column, seen };
  const added = { table_name: place.table, column_name: column.name, what: "added" };
  updateRows(db, "_schema_changes", { type: seen }, added);
  if (column.seen !== null) noteSchemaChange(db, { ...place, what: seen, seen }, first);
}

/** What the service sends otherwise than the connector knows. */
export interface SchemaChange {
  /** `people.nick_name`; where the type changed `people.address.zip`, as in the record. */
  readonly field: string;
  /** The type of JSON that came instead; null: the field is new. */
  readonly type: string | null;
  /** The id of the first record with it; of a child table's row that of its parent. */
  readonly record: string;
  readonly at: string;
}

/** What differs from what the connector knows today, the oldest first. */
export function schemaChanges(db: Db, resources: readonly Resource[]): SchemaChange[] {
  const columns = ["table_name", "column_name", "path", "what", "type", "record_id", "at"] as const;
  const rows = selectRows(db, "_schema_changes", columns, {}, "id");
  return rows.flatMap(({ table_name: table, column_name: name, path, what, type: seen, record_id, at }) => {
    const type = what === "added" ? null : what;
    const keys = parseStored(db, path) as string[];
    const known = resources.flatMap((one) => rowsOf(knownPlan(one), table) ?? []);
    if ((type === null || seen !== null) && known.some(({ root }) => isKnown(root, keys))) return [];
    return [{ field: `${table}.${name}`, type, record: String(record_id), at }];
  });
}

/** The plan of a resource with the columns that earlier runs added, except what the connector knows by now. */
export function planWithUnknown(db: Db, resource: Resource): TablePlan {
  const columns = ["table_name", "column_name", "path", "type"] as const;
  const added = selectRows(db, "_schema_changes", columns, { what: "added" }, "id");
  let plan = knownPlan(resource);
  for (const { table_name: table, column_name: name, path, type: seen } of added) {
    const keys = parseStored(db, path) as string[];
    const known = rowsOf(plan, table);
    if (!known || isKnown(known.root, keys) || known.columns.some((column) => column.name === name)) continue;
    if (plan === knownPlan(resource)) plan = planTable(resource);
    adopt(rowsOf(plan, table) ?? plan, keys, name, seen);
  }
  return plan;
}

/** A plan that may get columns, and the keys in it: a new one in place of one that all mirrors share. */
export function unsharedPlan(resource: Resource, plan: TablePlan, keys: readonly UnknownKey[]) {
  if (plan !== knownPlan(resource)) return { plan, keys };
  const own = planTable(resource);
  const tables = new Map<RowPlan, string>(plan.children.map((child) => [child, child.table]));
  const ownRows = (rows: RowPlan) => rowsOf(own, tables.get(rows) ?? own.table) ?? own;
  return { plan: own, keys: keys.map((key) => ({ ...key, plan: ownRows(key.plan) })) };
}

function rowsOf(plan: TablePlan, table: string): RowPlan | undefined {
  return plan.table === table ? plan : plan.children.find((child) => child.table === table);
}

function tableOf(plan: TablePlan, rows: RowPlan): string {
  return plan.children.find((child) => child === rows)?.table ?? plan.table;
}

/** The column that was added for the field of this path. */
function unknownColumn(rows: RowPlan, path: readonly string[]): Column | undefined {
  const column = rows.columns[parentOf(rows.root, path)?.below?.get(path.at(-1) ?? "")?.column ?? -1];
  return column?.scalar === "any" ? column : undefined;
}

function adopt(rows: RowPlan, path: readonly string[], name: string, seen: SeenType): Column {
  const plain = { nullable: true, references: null, doc: null, values: null };
  const column: Column = { name, scalar: "any", seen, paths: [path], ...plain };
  const node = keyNode(null, rows.columns.push(column) - 1);
  const parent = parentOf(rows.root, path);
  parent?.below?.set(path.at(-1) ?? "", node);
  if (parent) parent.memo = null;
  return column;
}

/** Does the tree have a place for this path, or for a key above it? */
export function isKnown(root: KeyNode, path: readonly string[]): boolean {
  return parentOf(root, path)?.below?.has(path.at(-1) ?? "") ?? true;
}

function parentOf(root: KeyNode, path: readonly string[]): KeyNode | null {
  let at: KeyNode | null = root;
  for (const key of path.slice(0, -1)) at = at?.below?.get(key) ?? null;
  return at;
}

/**
 * A snake_case name that no column has; names starting with `_` are own columns, and SQLite adds no `rowid` or `oid`.
 *
 * @param present names of the table's columns, lower-case
 */
function freeName(rows: RowPlan, path: readonly string[], present: ReadonlySet<string>): string {
  const plain = path.map(snakeCase).join("_").slice(0, 100).toWellFormed();
  const base = plain === "" || plain.startsWith("_") ? `x${plain}` : plain;
  const keys = ["id", "position", "rowid", "oid", ...("parentKey" in rows ? [String(rows.parentKey)] : [])];
  const taken = new Set([...rows.columns.map((column) => column.name.toLowerCase()), ...keys, ...present]);
  let name = base;
  for (let n = 2; taken.has(name.toLowerCase()); n++) name = `${base}_${n}`;
  return name;
}
