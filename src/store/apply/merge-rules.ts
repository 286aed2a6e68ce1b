/**
 * The rules by which answers become rows (I2, I3, I7): pure functions over a record's fence, its stored values
 * and the values that came. ResourceTable runs the statements that follow from them.
 */
import { someOf } from "../../base/names.ts";
import { jsonEquals, type JsonObject } from "../../json/literal.ts";
import { OddValue, type Cell, type Row } from "../tables/row-decoder.ts";
import { dataColumns } from "../tables/table-layout.ts";
import type { TablePlan } from "../tables/table-plan.ts";
import type { FullSource, Overrides, Source } from "./read-stamp.ts";

/** What is remembered of the last applied read of a record: a row of `_fence_<resource>`. */
export interface Fence {
  /** SHA-1 of the stored JSON, in hexadecimal digits; null for a deleted record, and where the JSON cannot be used. */
  readonly sha: string | null;
  /** SHA-1 of a list's entry that is known to show nothing else. */
  readonly listed_sha: string | null;
  readonly source: Source;
  readonly received_seq: number;
  /** Epoch milliseconds. */
  readonly read_at: number;
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

export function isLive<F extends Pick<Fence, "gone">>(fence: F | undefined): fence is F {
  return fence?.gone === 0;
}

export function isProvisional(fence: Pick<Fence, "gone" | "source"> | undefined): boolean {
  return isLive(fence) && fence.source === "preview";
}

/**
 * What the bytes alone decide, before they are parsed. `same`: the mirror holds them. `stale`: they differ and
 * overlap with the last applied read, so nobody knows which is newer. `compare`: the last read was of the other
 * source, which may write the same values otherwise. `write`: they are new, as any record is for a provisional row, and
 * where the stored JSON cannot be used.
 */
export function judgeBytes(
  fence: Fence | undefined,
  read: { readonly sha: string; readonly source: FullSource; readonly isStale: boolean },
): "same" | "stale" | "compare" | "write" {
  const whole = isLive(fence) && !isProvisional(fence) ? fence : undefined;
  if (whole && isKnown(whole, read.sha, read.source)) return "same";
  if (read.isStale) return "stale";
  return whole && whole.sha !== null && whole.source !== read.source ? "compare" : "write";
}

function isKnown(fence: Fence, sha: string, source: FullSource): boolean {
  return fence.sha === sha || (source === "list" && fence.listed_sha === sha);
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

/** Values as text, for hashes and comparisons: bigints are not numbers in it. */
export function textOf(values: unknown): string {
  return JSON.stringify(values, (_key, value: unknown) => (typeof value === "bigint" ? `${value}n` : value));
}

/** An answer without an id is the record asked for when nothing else is missing. Throws OddValue. */
export function assertOnlyIdMissing({ missing }: Row): void {
  const others = missing.filter((path) => path !== "id");
  if (others.length === 0) return;
  throw new OddValue(`the record has no id and lacks ${someOf(others, 3)}`);
}
