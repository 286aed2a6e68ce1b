/**
 * The rules by which answers become rows (I2, I3, I7): pure functions over a record's fence, its stored values
 * and the values that came. ResourceTable runs the statements that follow from them.
 */
import { hash } from "node:crypto";
import { jsonEquals } from "../../json/literal.ts";
import type { JsonObject } from "../../json/literal.ts";
import { cellsOf, isPresent, type Cell, type Row, type UnknownKey } from "../tables/row-decoder.ts";
import { dataColumns } from "../tables/table-layout.ts";
import type { RowPlan, TablePlan } from "../tables/table-plan.ts";
import type { ListedAs, Overrides, Source } from "./read-stamp.ts";

/** What is remembered of the last applied read of a record: a row of `_fence_<resource>`. */
export interface Fence {
  /** SHA-1 of the stored JSON; null for a deleted record, and where the JSON cannot be used. */
  readonly sha: Buffer | null;
  /** SHA-1 of a list's entry that is known to show nothing else. */
  readonly listed_sha: Buffer | null;
  readonly source: Source;
  readonly received_seq: number;
  /** `seq` of the record's last row in the change log. */
  readonly last_change: number | null;
  /** 1: deleted. */
  readonly gone: number;
}

/** A record as it was parsed, and as the table holds it. */
export interface DecodedRecord {
  readonly record: JsonObject;
  readonly row: Row;
}

/** Is the record in the mirror, and not deleted? */
export function isLive(fence: Fence | undefined): fence is Fence {
  return fence?.gone === 0;
}

/**
 * What the bytes alone decide, before they are parsed. `same`: the mirror holds them. `stale`: they differ and
 * overlap with the last applied read, so nobody knows which is newer. `compare`: the last read was of the other
 * source, which may write the same values otherwise. `write`: they are new.
 */
export function judgeBytes(
  fence: Fence | undefined,
  read: { readonly sha: Buffer; readonly source: Source; readonly isStale: boolean },
): "same" | "stale" | "compare" | "write" {
  if (isLive(fence) && isKnown(fence, read.sha, read.source)) return "same";
  if (read.isStale) return "stale";
  return isLive(fence) && fence.source !== read.source ? "compare" : "write";
}

function isKnown(fence: Fence, sha: Buffer, source: Source): boolean {
  return isSameSha(fence.sha, sha) || (source === "list" && isSameSha(fence.listed_sha, sha));
}

/** Two SHA-1 values; null equals none. */
export function isSameSha(a: Buffer | null, b: Buffer): boolean {
  return a !== null && b.equals(a);
}

/**
 * Do both records say the same? Their cells are equal, and so is what no column shows: the label of something
 * nested. `overrides` fill cells that a record does not name.
 */
export function saysTheSame(
  plan: TablePlan,
  stored: DecodedRecord,
  incoming: DecodedRecord,
  overrides: Overrides | undefined,
): boolean {
  const valuesOf = ({ row }: DecodedRecord) => textOf([dataCells(plan, row, overrides), row.children]);
  return valuesOf(stored) === valuesOf(incoming) && jsonEquals(stored.record, incoming.record);
}

/** A row's cells in the order of `dataColumns`. */
export function dataCells(plan: TablePlan, row: Row, overrides: Overrides | undefined): Cell[] {
  const idAt = plan.columns.findIndex(({ name }) => name === "id");
  const cells = idAt < 0 ? [...row.cells] : row.cells.toSpliced(idAt, 1);
  if (!overrides) return cells;
  const override = (name: string) => (Object.hasOwn(overrides, name) ? overrides[name] : undefined);
  return dataColumns(plan).map(({ name }, i) => cells[i] ?? override(name) ?? null);
}

/** Values that a preview shows, by the name of the row's column. */
export type PreviewCells = ReadonlyMap<string, Cell>;

/**
 * The values of a preview that have a column in the record's table. Keys that nobody knows are added to
 * `unknown`. Throws OddValue.
 */
export function previewCells(
  plan: TablePlan,
  preview: { readonly plan: RowPlan; readonly record: JsonObject },
  unknown: UnknownKey[],
): PreviewCells {
  const cells = cellsOf(preview.plan, preview.record, unknown);
  const names = new Set(plan.columns.map(({ name }) => name));
  const shared = preview.plan.columns.flatMap((column, i) =>
    names.has(column.name) && isPresent(column, preview.record)
      ? [[column.name, cells[i] ?? null] as const]
      : [],
  );
  return new Map(shared);
}

/** How a list showed a record; `cells` are null where its values are odd. */
export function listedAs(sha: Buffer, cells: PreviewCells | null): ListedAs {
  return { sha: sha.toString("hex"), key: cells ? keyOf([...cells.values()]) : "" };
}

/** Has the stored row every value that the preview shows? */
export function covers(stored: PreviewCells, preview: PreviewCells): boolean {
  return [...preview].every(([name, cell]) => name === "id" || isSameCell(stored.get(name) ?? null, cell));
}

/** The SHA-1 of the preview that led to this detail, if the detail shows the same values; otherwise null. */
export function coveredSha(
  plan: TablePlan,
  previewPlan: RowPlan,
  listed: ListedAs | undefined,
  row: Row | null,
): Buffer | null {
  if (!listed || !row) return null;
  const byName = new Map(plan.columns.map(({ name }, i) => [name, row.cells[i] ?? null]));
  const shown = previewPlan.columns.filter(({ name }) => byName.has(name));
  const key = keyOf(shown.map(({ name }) => byName.get(name) ?? null));
  return key === listed.key ? Buffer.from(listed.sha, "hex") : null;
}

/** Integers read back from SQLite are bigints; 5 and 5n are the same cell. */
function isSameCell(a: Cell, b: Cell): boolean {
  if (a === b) return true;
  if (typeof a === "string" || typeof b === "string" || a === null || b === null) return false;
  return String(a) === String(b);
}

function keyOf(cells: readonly Cell[]): string {
  return hash("sha1", textOf(cells), "hex");
}

function textOf(values: unknown): string {
  return JSON.stringify(values, (_key, value: unknown) => (typeof value === "bigint" ? `${value}n` : value));
}
