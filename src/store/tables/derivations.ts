import { hash } from "node:crypto";
import { firstId } from "../../base/ids.ts";
import { onceFor } from "../../base/once-for.ts";
import type { Resource } from "../../connector/resource.ts";
import { hasRow, insertRow, Repository, selectRows, updateRows } from "../own-tables/statement.ts";
import { quoted } from "../sql-text.ts";
import { decodingVersion } from "./row-decoder.ts";
import { rawTable } from "./table-layout.ts";
import { planRow, planTable, sqlTypes, type Column, type KeyNode, type RowPlan } from "./table-plan.ts";

/**
 * Which version of plan and decoding made the rows of each resource, and how far they are derived again.
 *
 * Guarantee: rows are marked as derived in the transaction that writes them.
 * Source of truth: table `_derivations`; `next_id` is null where all rows are derived.
 * Worst outcome of a crash: the records of one transaction are compared again.
 */
export class Derivations extends Repository {
  /** Starts to derive the rows of a resource again where the version differs, or where its tables changed. */
  begin(resource: string, version: string, isChanged: boolean): void {
    if (!isChanged && hasRow(this.db, "_derivations", { resource, version })) return;
    const isEmpty = !this.exists(`SELECT 1 FROM ${quoted(rawTable(resource))}`);
    const row = { resource, version, next_id: isEmpty ? null : firstId };
    insertRow(this.db, "_derivations", row, "or replace");
  }

  isCurrent(resource: string, version: string): boolean {
    return hasRow(this.db, "_derivations", { resource, version, next_id: null });
  }

  /** The next id to derive; null: all are done. */
  nextId(resource: string): bigint | null {
    const next = selectRows(this.db, "_derivations", ["next_id"], { resource })[0]?.next_id ?? null;
    return next === null ? null : BigInt(next);
  }

  /** Call with the next id not derived yet; null: all are done. */
  advance(resource: string, nextId: bigint | null): void {
    updateRows(this.db, "_derivations", { next_id: nextId }, { resource });
  }
}

/** Identifies what rows follow from besides their JSON; columns of unknown fields are no part of it. */
export const derivationVersion = onceFor((resource: Resource): string => {
  const plan = planTable(resource);
  const children = plan.children.map((child) => [child.field, child.table, child.parentKey, factsOf(child)]);
  const preview = resource.previewFields && factsOf(planRow(resource.previewFields));
  return hash("sha1", JSON.stringify([decodingVersion, factsOf(plan), children, preview]), "hex");
});

function factsOf({ columns, root }: RowPlan): unknown {
  const types = columns.map(({ name, scalar }) => `${name} ${scalar} ${sqlTypes[scalar]}`);
  return [types.toSorted(byText), nodeFacts(root, columns)];
}

function nodeFacts({ column, first, open, below }: KeyNode, columns: readonly Column[]): unknown {
  const keys = [...(below ?? [])].toSorted(([a], [b]) => byText(a, b));
  const inner = keys.map(([key, node]) => [key, nodeFacts(node, columns)]);
  return [columns[column]?.name ?? null, first, open, below && inner];
}

function byText(a: string, b: string): number {
  return a < b ? -1 : 1;
}
