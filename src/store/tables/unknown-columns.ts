import { snakeCase } from "../../base/names.ts";
import { keyNode, type Column, type KeyNode, type RowPlan, type TablePlan } from "./table-plan.ts";
import type { UnknownKey } from "./row-decoder.ts";

/** More unknown fields than this in one table is no new feature but noise; they stay in `_raw`, and are reported. */
export const mostNewColumns = 200;

export interface NewColumn {
  readonly table: string;
  readonly column: Column;
}

/**
 * A field nobody told us of becomes a column (I12). Grows the plan; returns what to add to the database,
 * where `namesIn` tells the columns that stand in a table already, lower-case.
 */
export function growPlan(
  plan: TablePlan,
  unknown: readonly UnknownKey[],
  namesIn: (table: string) => ReadonlySet<string>,
): NewColumn[] {
  const added: NewColumn[] = [];
  for (const { plan: rows, path } of unknown) {
    if (isKnown(rows.root, path)) continue;
    if (rows.columns.filter((column) => column.scalar === "any").length >= mostNewColumns) continue;
    const table = tableOf(plan, rows);
    added.push({ table, column: adopt(rows, path, freeName(rows, path, namesIn(table))) });
  }
  return added;
}

/** Brings back, on opening, what an earlier run had found, unless the connector knows it by now. */
export function adoptAgain(rows: RowPlan, path: readonly string[], name: string): void {
  if (isKnown(rows.root, path) || rows.columns.some((column) => column.name === name)) return;
  adopt(rows, path, name);
}

function adopt(rows: RowPlan, path: readonly string[], name: string): Column {
  const column: Column = { name, scalar: "any", paths: [path], nullable: true };
  const node = keyNode(null, rows.columns.push(column) - 1);
  const parent = parentOf(rows.root, path);
  parent?.below?.set(path.at(-1) ?? "", node);
  if (parent) parent.memo = null;
  return column;
}

/** Does the tree have a place for this path, or for what stands above it? */
export function isKnown(root: KeyNode, path: readonly string[]): boolean {
  return parentOf(root, path)?.below?.has(path.at(-1) ?? "") ?? true;
}

function parentOf(root: KeyNode, path: readonly string[]): KeyNode | null {
  let at: KeyNode | null = root;
  for (const key of path.slice(0, -1)) at = at?.below?.get(key) ?? null;
  return at;
}

function tableOf(plan: TablePlan, rows: RowPlan): string {
  return plan.children.find((child) => child === rows)?.table ?? plan.table;
}

/** A snake_case name that no column has yet; names starting with `_` are ours. */
function freeName(rows: RowPlan, path: readonly string[], present: ReadonlySet<string>): string {
  const plain = path.map(snakeCase).join("_").slice(0, 100);
  const base = plain === "" || plain.startsWith("_") ? `x${plain}` : plain;
  const keys = ["id", "position", ...("parentKey" in rows ? [String(rows.parentKey)] : [])];
  const taken = new Set([...rows.columns.map((column) => column.name.toLowerCase()), ...keys, ...present]);
  let name = base;
  for (let n = 2; taken.has(name.toLowerCase()); n++) name = `${base}_${n}`;
  return name;
}
