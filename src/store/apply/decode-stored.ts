import { MirrorError } from "../../base/errors.ts";
import { snakeCase } from "../../base/names.ts";
import type { Resource } from "../../connector/resource.ts";
import { isObject } from "../../json/literal.ts";
import { parseLossless } from "../../json/lossless.ts";
import { onceFor } from "../once-for.ts";
import { OddValue, toRow } from "../tables/row-decoder.ts";
import { dataColumns } from "../tables/table-layout.ts";
import type { TablePlan } from "../tables/table-plan.ts";
import type { HeldRecord } from "./held-record.ts";
import type { DecodedRecord } from "./merge-rules.ts";
import type { Previews } from "./previews.ts";
import type { Overrides, Source } from "./read-stamp.ts";

/** The row that follows from JSON, or why there is none: an earlier version took it, or it is damaged. */
export function decodeStored(
  { plan, previews }: { readonly plan: TablePlan; readonly previews: Previews },
  json: string | Buffer,
  source: Source | undefined,
): DecodedRecord | OddValue {
  try {
    const record = parseLossless(json);
    if (!isObject(record)) return new OddValue("the record is not an object");
    const isPreview = source === "preview";
    return { record, row: isPreview ? previews.row(previews.cells(record)) : toRow(plan, record) };
  } catch (error) {
    if (error instanceof OddValue) return error;
    if (error instanceof MirrorError && error.kind === "protocol") return new OddValue(error.message);
    throw error;
  }
}

/** The cells of the columns that name an owned record's owner. */
export function ownerCells(
  { resource, plan }: { readonly resource: Resource; readonly plan: TablePlan },
  { cells }: Pick<HeldRecord, "cells">,
): Overrides | undefined {
  const names = ownerColumnNames(resource);
  if (!names) return undefined;
  const named = dataColumns(plan).map(({ name }, i) => [name, cells?.[i] ?? null] as const);
  return Object.fromEntries(named.filter(([name]) => names.has(name)));
}

/** Null: no other record owns those of the resource. */
const ownerColumnNames = onceFor(({ list }: Resource) => {
  if (list.kind !== "owned") return null;
  return new Set(list.by.flatMap(({ typeField, idField }) => [typeField, idField]).map(snakeCase));
});
