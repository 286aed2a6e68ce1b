import { jsonEquals } from "../../json/literal.ts";
import { ownerCells } from "../../store/apply/derive-rows.ts";
import {
  differencesOf,
  isAsReceived,
  rowsOf,
  type DerivedRows,
  type HeldRecord,
} from "../../store/apply/held-record.ts";
import type { DecodedRecord } from "../../store/apply/merge-rules.ts";
import type { ResourceTable } from "../../store/apply/resource-table.ts";
import { OddValue, type Cell, type UnknownKey } from "../../store/tables/row-decoder.ts";

/** One field that the mirror and the service show differently. null: there is no value. */
export interface FieldDifference {
  /** A column; `invoice_items[2].title` of a child row, `invoice_items[2]` for the whole row; `_raw.total` of the JSON. */
  readonly field: string;
  readonly mirror: unknown;
  readonly service: unknown;
}

type Table = Pick<ResourceTable, "plan" | "resource">;

/**
 * How the rows and the JSON of a live record differ from the record that the service shows. Pure.
 *
 * @param raw the mirror's JSON decoded, or why it cannot be
 */
export function recordDifferences(
  table: Table,
  held: HeldRecord,
  raw: DecodedRecord | OddValue,
  service: DecodedRecord,
): FieldDifference[] {
  const inRows = rowDifferences(table, held, service);
  const fields = new Set(inRows.map(({ field }) => field));
  const inJson = rawDifferences(table, held, raw, service).filter(
    ({ field }) => !fields.has(field.replace(/^_raw\.?/, "")),
  );
  return [...inRows, ...unknownFields(raw, service), ...inJson];
}

/** How the rows of a live record differ from those that a record makes. Pure. */
export function rowDifferences(table: Table, held: HeldRecord, record: DecodedRecord): FieldDifference[] {
  const derived = rowsLike(table, held, record);
  const found = differencesOf(table.plan, held, derived);
  return found.map(({ field, mirror, raw }) => ({ field, mirror, service: raw }));
}

/** Cells that the record does not name are the mirror's: the owner of an owned record. */
function rowsLike(table: Table, held: HeldRecord, { row }: DecodedRecord): DerivedRows {
  const fence = held.fence && { ...held.fence, gone: 0 };
  const overrides = ownerCells(table, held);
  return rowsOf(table.plan, { ...held, fence, deletedAt: null }, row, { overrides, nowMs: 0 });
}

function rawDifferences(
  table: Table,
  held: HeldRecord,
  raw: DecodedRecord | OddValue,
  service: DecodedRecord,
): FieldDifference[] {
  if (raw instanceof OddValue) return [{ field: "_raw", mirror: raw.message, service: "a record" }];
  const { children, ...own } = rowsLike(table, held, raw);
  const numbered = children.map((rows) => rows.map((cells, at): Cell[] => [BigInt(at), ...cells]));
  const inCells = rowDifferences(table, { ...held, ...own, children: numbered }, service);
  if (inCells.length > 0) return inCells.map((one) => ({ ...one, field: `_raw.${one.field}` }));
  if (isAsReceived(held) !== false) return [];
  // What no column shows. In JSON as it was received that may be old: the name of a nested record that changed since.
  return Object.entries(service.record).flatMap(([key, value]) => {
    const mirror = raw.record[key];
    if (mirror === undefined || jsonEquals(mirror, value)) return [];
    return { field: `_raw.${key}`, mirror, service: value };
  });
}

/** Fields that the service shows and the mirror has neither in a column nor in its JSON. */
function unknownFields(raw: DecodedRecord | OddValue, { row, record }: DecodedRecord): FieldDifference[] {
  const kept = new Set(raw instanceof OddValue ? [] : raw.row.unknown.map(nameOfUnknown));
  const names = new Set(row.unknown.map(nameOfUnknown).filter((name) => !kept.has(name)));
  return [...names].map((field) => ({ field, mirror: null, service: record[field] ?? "a value" }));
}

function nameOfUnknown({ plan, path }: UnknownKey): string {
  return [...("table" in plan ? [String(plan.table)] : []), ...path].join(".");
}
