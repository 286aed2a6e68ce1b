import { snakeCase } from "../../base/names.ts";
import type { Resource } from "../../connector/resource.ts";
import type { Db } from "../database.ts";
import type { UnknownKey } from "./row-decoder.ts";
import {
  keyNode,
  knownPlan,
  planTable,
  type Column,
  type KeyNode,
  type NewColumn,
  type RowPlan,
  type TablePlan,
} from "./table-plan.ts";
import { addColumn, columnNames } from "./table-layout.ts";

/** More unknown fields than this in one table are noise: they stay in `_raw`, and are reported. */
export const mostNewColumns = 200;

/**
 * Adds a column for each unknown field to the plan and the database (I12). Table `_schema_changes` remembers them
 * for the next opening.
 *
 * @param at ISO
 */
export function addUnknownColumns(
  db: Db,
  plan: TablePlan,
  unknown: readonly UnknownKey[],
  at: string,
): NewColumn[] {
  const sql = `INSERT INTO _schema_changes (at, table_name, column_name, path, what) VALUES (?, ?, ?, ?, 'added')`;
  const insert = db.prepare(sql);
  return unknown.flatMap(({ plan: rows, path }) => {
    const added = rows.columns.filter((column) => column.scalar === "any");
    if (isKnown(rows.root, path) || added.length >= mostNewColumns) return [];
    const table = plan.children.find((child) => child === rows)?.table ?? plan.table;
    const column = adopt(rows, path, freeName(rows, path, columnNames(db, table)));
    addColumn(db, table, column);
    insert.run(at, table, column.name, JSON.stringify(path));
    return [{ table, column }];
  });
}

/** Columns that were added for unknown fields, as `table.column`, the oldest first. */
export function unknownColumns(db: Db): string[] {
  const sql = "SELECT table_name || '.' || column_name FROM _schema_changes ORDER BY id";
  return db.prepare(sql).pluck().all() as string[];
}

/** The plan of a resource with the columns that earlier runs added, except what the connector knows by now. */
export function planWithUnknown(db: Db, resource: Resource): TablePlan {
  const sql = `SELECT table_name AS "table", column_name AS name, path FROM _schema_changes WHERE what = 'added'`;
  let plan = knownPlan(resource);
  for (const { table, name, path } of db.prepare(sql).all() as Record<"table" | "name" | "path", string>[]) {
    const keys = JSON.parse(path) as string[];
    const known = rowsOf(plan, table);
    if (!known || isKnown(known.root, keys) || known.columns.some((column) => column.name === name)) continue;
    if (plan === knownPlan(resource)) plan = planTable(resource);
    adopt(rowsOf(plan, table) ?? plan, keys, name);
  }
  return plan;
}

/** A plan that may get columns, and the keys in it: a new one in place of one that all mirrors share. */
export function unsharedPlan(
  resource: Resource,
  plan: TablePlan,
  keys: readonly UnknownKey[],
): { readonly plan: TablePlan; readonly keys: readonly UnknownKey[] } {
  if (plan !== knownPlan(resource)) return { plan, keys };
  const own = planTable(resource);
  const tables = new Map<RowPlan, string>(plan.children.map((child) => [child, child.table]));
  const ownRows = (rows: RowPlan) => rowsOf(own, tables.get(rows) ?? own.table) ?? own;
  return { plan: own, keys: keys.map(({ plan: rows, path }) => ({ plan: ownRows(rows), path })) };
}

function rowsOf(plan: TablePlan, table: string): RowPlan | undefined {
  return plan.table === table ? plan : plan.children.find((child) => child.table === table);
}

function adopt(rows: RowPlan, path: readonly string[], name: string): Column {
  const plain = { nullable: true, references: null, doc: null, values: null };
  const column: Column = { name, scalar: "any", paths: [path], ...plain };
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
