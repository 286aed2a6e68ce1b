import { snakeCase } from "../base/names.ts";
import type { Column, Known, RowPlan, TablePlan } from "./columns.ts";
import type { UnknownKey } from "./row.ts";

/** More unknown fields than this in one table is no new feature but noise; they stay in `_raw`, and are reported. */
export const mostNewColumns = 200;

export interface NewColumn {
  readonly table: string;
  readonly column: Column;
}

/** A field nobody told us of becomes a column (I12). Grows the plan; returns what to add to the database. */
export function growPlan(plan: TablePlan, unknown: readonly UnknownKey[]): NewColumn[] {
  const added: NewColumn[] = [];
  for (const { plan: rows, path } of unknown) {
    if (isKnown(rows.known, path)) continue;
    if (rows.columns.filter((column) => column.scalar === "any").length >= mostNewColumns) continue;
    added.push({ table: tableOf(plan, rows), column: adopt(rows, path, freeName(rows, path)) });
  }
  return added;
}

/** Also used to bring back, on opening, what earlier runs had found. */
export function adopt(rows: RowPlan, path: readonly string[], name: string): Column {
  const column: Column = { name, scalar: "any", paths: [path], nullable: true };
  rows.columns.push(column);
  parentOf(rows.known, path)?.keys.set(path.at(-1) ?? "", null);
  return column;
}

function isKnown(known: Known, path: readonly string[]): boolean {
  return parentOf(known, path)?.keys.has(path.at(-1) ?? "") ?? true;
}

function parentOf(known: Known, path: readonly string[]): Known | null {
  let at: Known | null = known;
  for (const key of path.slice(0, -1)) at = at?.keys.get(key) ?? null;
  return at;
}

function tableOf(plan: TablePlan, rows: RowPlan): string {
  return plan.children.find((child) => child === rows)?.table ?? plan.table;
}

/** A snake_case name that no column has yet; names starting with `_` are ours. */
function freeName(rows: RowPlan, path: readonly string[]): string {
  const plain = path.map(snakeCase).join("_").slice(0, 100);
  const base = plain === "" || plain.startsWith("_") ? `x${plain}` : plain;
  const keys = ["id", "position", ...("parentKey" in rows ? [String(rows.parentKey)] : [])];
  const taken = new Set([...rows.columns.map((column) => column.name.toLowerCase()), ...keys]);
  let name = base;
  for (let n = 2; taken.has(name.toLowerCase()); n++) name = `${base}_${n}`;
  return name;
}
